import assert from 'node:assert/strict';
import { request } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { type SharedSystem, sharedSystem } from '../../support/system.js';

describe('documents', () => {
  let system: SharedSystem;
  before(async () => {
    system = await sharedSystem();
  });

  /** Without what fetch does by itself: it decompresses. */
  const get = (path: string, headers: Record<string, string> = {}) =>
    new Promise<{ status: number | undefined; headers: Record<string, unknown>; body: Buffer }>(
      (resolve, reject) => {
        request(system.url + path, { headers }, async (response) => {
          const parts: Buffer[] = [];
          for await (const part of response) parts.push(part);
          resolve({ status: response.statusCode, headers: response.headers, body: Buffer.concat(parts) });
        })
          .once('error', reject)
          .end();
      },
    );

  for (const path of ['/openapi.json', '/docs']) {
    it(`${path} is compressed for those who accept that, and not sent twice`, async () => {
      const plain = await get(path);
      const compressed = await get(path, { 'accept-encoding': 'br, gzip' });
      assert.equal(plain.headers['content-encoding'], undefined);
      assert.equal(compressed.headers['content-encoding'], 'gzip');
      assert.deepEqual(gunzipSync(compressed.body), plain.body);
      assert.ok(compressed.body.length < plain.body.length * 0.7, `${compressed.body.length} bytes`);
      assert.notEqual(compressed.headers['etag'], plain.headers['etag']);
      assert.equal(compressed.headers['vary'], 'Accept-Encoding');
      for (const [first, accept] of [
        [plain, 'identity'],
        [compressed, 'gzip'],
      ] as const) {
        const headers = { 'accept-encoding': accept, 'if-none-match': String(first.headers['etag']) };
        const { status, body } = await get(path, headers);
        assert.equal(status, 304);
        assert.equal(body.length, 0);
      }
    });
  }

  it('tell what to do about an error, at the address that is its type', async () => {
    const missing = JSON.parse((await get('/v18.0/nothing')).body.toString());
    const { pathname } = new URL(missing.type);
    const page = await get(pathname);
    assert.match(
      page.body.toString(),
      /<h1>No access token was sent<\/h1>[\s\S]*<code>missing_token<\/code>/,
    );
    assert.match((await get('/errors')).body.toString(), /<a href="errors\/missing_token">/);
    assert.match((await get('/errors/constructor')).body.toString(), /"code":"not_found"/);
  });

  it('and every other answer forbid to guess their content type', async () => {
    for (const path of [
      ...['/healthz', '/readyz', '/metrics', '/openapi.json', '/docs', '/nothing', '/v18.0/me', '/v1.0/me'],
      ...[
        '/.well-known/oauth-authorization-server',
        '/oauth/authorize',
        '/oauth/jwks',
        '/oauth/interaction/x',
      ],
    ]) {
      const { headers } = await get(path);
      assert.equal(headers['x-content-type-options'], 'nosniff', path);
    }
  });
});
