import assert from 'node:assert/strict';
import type { Logger } from 'pino';
import type { Context } from '../../../src/api/http/context.js';
import { identifyRequest } from '../../../src/api/http/middleware/observe.js';

/** Logs a request. @returns the line */
async function logged(path: string, querystring: string, ends?: Error): Promise<Record<string, unknown>> {
  const lines: Record<string, unknown>[] = [];
  const logger = { info: (fields: Record<string, unknown>) => lines.push(fields) } as unknown as Logger;
  const url = `${path}?${querystring}`;
  const request = { url, originalUrl: url, href: `http://127.0.0.1${url}`, method: 'GET', path, querystring };
  const headers = { authorization: 'Bearer secret-token' };
  const context = { ...request, req: { url, headers }, headers, state: {}, status: 200, set: () => {} };
  await identifyRequest(logger)(context as unknown as Context as never, async () => {
    if (ends) throw ends;
  }).catch((error: unknown) => assert.equal(error, ends));
  assert.equal(lines.length, 1);
  return lines[0] ?? {};
}

describe('the log line of a request', () => {
  it('has its path, and neither the query, nor a token, nor the value of a subject', async () => {
    for (const ends of [undefined, new Error('refused')]) {
      const line = await logged('/v18.0/subjects/ada@example.com', 'access_token=secret-token', ends);
      assert.equal(line['path'], '/v18.0/subjects/…');
      assert.doesNotMatch(JSON.stringify(line), /secret-token|access_token|ada@/);
    }
    assert.equal((await logged('/v18.0/subjects/erase', 'x=1'))['path'], '/v18.0/subjects/erase');
  });
});
