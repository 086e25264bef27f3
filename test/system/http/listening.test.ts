import assert from 'node:assert/strict';
import { listen } from '../../../src/bin/service/http-server.js';
import { startSystem } from '../../support/system.js';

describe('HOOKLINE_HOST', () => {
  it('can be an address of IPv6, which stands in brackets in URLs', async () => {
    const system = await startSystem({ HOOKLINE_HOST: '::1' }, 'api');
    try {
      assert.match(system.url, /^http:\/\/\[::1\]:\d+$/);
      assert.equal((await fetch(`${system.url}/healthz`)).status, 200);
    } finally {
      await system.stop();
    }
  });

  it('can be all addresses, or a name', async () => {
    for (const [host, shown] of [
      ['::', '[::]'],
      ['localhost', 'localhost'],
    ] as const) {
      const server = await listen({ HOOKLINE_HOST: host, HOOKLINE_PORT: 0, HOOKLINE_KEEP_ALIVE: 1_000 });
      assert.equal(server.url, `http://${shown}:${server.port}`);
      server.answer((_request, response) => response.end('here'));
      assert.equal(await (await fetch(server.url)).text(), 'here');
      await server.close({ requestMs: 0, responseMs: 0 });
    }
  });
});
