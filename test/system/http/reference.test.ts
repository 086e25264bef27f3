import assert from 'node:assert/strict';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { BELOW_A_PATH, type SharedSystem, sharedSystem } from '../../support/system.js';

const ASSETS = 'web/reference/dist/assets';
/** Swagger UI takes 330 KB of it. */
const MAX_BYTES = 400 * 1024;

describe('the API reference', () => {
  let system: SharedSystem;
  before(async () => {
    system = await sharedSystem(BELOW_A_PATH, 'api');
  });

  it('may run scripts and styles of its own server alone, and none that stand in the page', async () => {
    const response = await fetch(`${system.url}/docs`);
    const page = await response.text();
    const policy = response.headers.get('content-security-policy') ?? '';
    assert.match(policy, /default-src 'none'; script-src 'self'; style-src 'self';/);
    assert.match(policy, /connect-src 'self';/);
    assert.doesNotMatch(policy, /unsafe|blob:|https?:|\*/);
    assert.doesNotMatch(page, /<style|style=|<script(?![^>]* src=)|\son\w+=/);
  });

  it('says where the same is for who runs no scripts', async () => {
    const page = await (await fetch(`${system.url}/docs`)).text();
    assert.match(page, /<noscript>[\s\S]*href="\.\/openapi\.json"[\s\S]*<\/noscript>/);
  });

  it('has its files below the path of the public address, compressed and kept for ever, and no others', async () => {
    const page = await (await fetch(`${system.url}/docs`)).text();
    const [, script = ''] = /src="([^"]+\.js)"/.exec(page) ?? [];
    assert.match(script, /^\/hooks\/docs\/assets\/index-[\w-]+\.js$/);
    const { headers, status } = await fetch(system.url + script.slice('/hooks'.length), {
      headers: { 'accept-encoding': 'br' },
    });
    assert.equal(status, 200);
    assert.equal(headers.get('content-encoding'), 'br');
    assert.equal(headers.get('cache-control'), 'public, max-age=31536000, immutable');
    assert.equal((await fetch(`${system.url}/docs/assets/..%2findex.html`)).status, 404);
  });

  it('takes at most 400 KiB, compressed, in all', () => {
    const files = readdirSync(ASSETS).filter((name) => name.endsWith('.br'));
    const bytes = files.reduce((sum, name) => sum + statSync(join(ASSETS, name)).size, 0);
    assert.ok(bytes > 100_000 && bytes <= MAX_BYTES, `${bytes} bytes`);
  });
});
