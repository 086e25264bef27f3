import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { BELOW_A_PATH, type SharedSystem, sharedSystem } from '../../support/system.js';

const ASSETS = 'web/dist/assets';
/** All of the application, compressed. */
const MAX_BYTES = 250 * 1024;

describe('the web application', () => {
  let system: SharedSystem;
  before(async () => {
    system = await sharedSystem(BELOW_A_PATH, 'api');
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
  const scriptOf = (page: Buffer) => /src="([^"]+\.js)"/.exec(page.toString())?.[1] ?? '';

  it('is one page at every address of the portal and the desk, which nobody keeps or frames', async () => {
    // The portal has the platform's look besides; the desk is for people of the service.
    const pages = { portal: (await get('/portal')).body, desk: (await get('/desk')).body };
    assert.equal(scriptOf(pages.portal), scriptOf(pages.desk));
    for (const path of ['/portal', '/desk', '/portal/deliveries/dlv_1', '/desk/endpoints/ep_1?tab=secret']) {
      const { status, headers, body } = await get(path);
      assert.equal(status, 200, path);
      assert.ok(body.equals(path.startsWith('/desk') ? pages.desk : pages.portal), path);
      assert.equal(headers['cache-control'], 'no-store');
      assert.equal(headers['x-frame-options'], 'DENY');
      assert.equal(headers['referrer-policy'], 'no-referrer');
    }
    assert.equal((await get('/portals')).status, 404);
  });

  it('is where a browser gets from /, which has nothing for programs', async () => {
    const browser = await get('/', { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' });
    assert.deepEqual([browser.status, browser.headers['location']], [302, '/hooks/portal']);
    assert.equal((await get('/', { accept: '*/*' })).status, 404);
    assert.equal((await get('/')).status, 404);
  });

  it('may run scripts and styles of its own server alone, and none that stand in the page', async () => {
    const { headers, body } = await get('/portal');
    const policy = String(headers['content-security-policy']);
    assert.match(policy, /default-src 'none'; script-src 'self'; style-src 'self';/);
    assert.match(policy, /require-trusted-types-for 'script'/);
    assert.doesNotMatch(policy, /unsafe|data:|blob:|https?:|\*/);
    assert.doesNotMatch(body.toString(), /<style|style=|<script(?![^>]* src=)|\son\w+=/);
  });

  it('has its files below the path of the public address, compressed and kept for ever', async () => {
    const script = scriptOf((await get('/portal')).body);
    assert.match(script, /^\/hooks\/web\/assets\/index-[\w-]+\.js$/);
    const path = script.slice('/hooks'.length);
    const plain = await get(path);
    const brotli = await get(path, { 'accept-encoding': 'gzip, deflate, br' });
    const gzip = await get(path, { 'accept-encoding': 'gzip' });
    assert.equal(plain.headers['content-encoding'], undefined);
    assert.equal(brotli.headers['content-encoding'], 'br');
    assert.equal(gzip.headers['content-encoding'], 'gzip');
    assert.deepEqual(brotliDecompressSync(brotli.body), plain.body);
    assert.deepEqual(gunzipSync(gzip.body), plain.body);
    assert.equal(plain.headers['cache-control'], 'public, max-age=31536000, immutable');
    assert.match(String(plain.headers['content-type']), /^text\/javascript/);
    const again = await get(path, { 'if-none-match': String(plain.headers['etag']) });
    assert.equal(again.status, 304);
  });

  it('has no other files', async () => {
    for (const name of ['nothing.js', '..%2findex.html', '..%2f..%2fpackage.json', 'index.html']) {
      assert.equal((await get(`/web/assets/${name}`)).status, 404, name);
    }
  });

  it('takes at most 250 KiB, compressed, in all', () => {
    const files = readdirSync(ASSETS).filter((name) => name.endsWith('.br'));
    const bytes = files.reduce((sum, name) => sum + statSync(join(ASSETS, name)).size, 0);
    assert.ok(files.length > 3 && bytes > 50_000, `${files.length} files, ${bytes} bytes`);
    assert.ok(bytes <= MAX_BYTES, `${bytes} bytes`);
  });

  it('holds no address of another server that it would call', () => {
    const scripts = readdirSync(ASSETS).filter((name) => name.endsWith('.js'));
    for (const name of scripts) {
      const text = readFileSync(join(ASSETS, name), 'utf8');
      assert.doesNotMatch(text, /(fetch|import)\(["'`]https?:/, name);
    }
  });
});
