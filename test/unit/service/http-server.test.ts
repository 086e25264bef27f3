import assert from 'node:assert/strict';
import { listen, timeLimits } from '../../../src/bin/service/http-server.js';
import { loadSettings } from '../../../src/config/load.js';

const answerOf = async (environment: Record<string, string>) => {
  const { HOOKLINE_HOST, HOOKLINE_KEEP_ALIVE } = loadSettings(environment);
  const server = await listen({ HOOKLINE_HOST, HOOKLINE_PORT: 0, HOOKLINE_KEEP_ALIVE });
  server.answer((_request, response) => response.end());
  try {
    return await fetch(server.url);
  } finally {
    // The connection of the answer is idle now: it is closed with the server.
    await server.close();
  }
};

describe('an idle connection of a caller', () => {
  it('is kept longer than load balancers keep theirs, which is 60 s', async () => {
    const { headers } = await answerOf({});
    assert.equal(headers.get('connection'), 'keep-alive');
    assert.equal(headers.get('keep-alive'), 'timeout=75');
  });

  it('has its first request taken as late as it is kept, and any request has five minutes at least', () => {
    for (const keepAliveMs of [1_000, 75_000, 3_600_000]) {
      const { keepAliveTimeout, headersTimeout, requestTimeout } = timeLimits(keepAliveMs);
      assert.equal(keepAliveTimeout, keepAliveMs);
      assert.ok(headersTimeout > keepAliveMs && requestTimeout >= headersTimeout);
      assert.ok(requestTimeout >= 300_000);
    }
  });

  it('is kept as long as is set, also beyond the time for a request', async () => {
    for (const [text, seconds] of [
      ['620s', 620],
      ['1h', 3_600],
    ] as const)
      assert.equal(
        (await answerOf({ HOOKLINE_KEEP_ALIVE: text })).headers.get('keep-alive'),
        `timeout=${seconds}`,
      );
    for (const text of ['0s', '2h', 'soon']) assert.throws(() => loadSettings({ HOOKLINE_KEEP_ALIVE: text }));
  });
});
