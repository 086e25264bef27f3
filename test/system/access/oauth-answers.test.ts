import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { request } from 'node:http';
import { Browser, formAction, newPerson } from '../../support/oauth.js';
import { OAuthApplication, REDIRECT_URI } from '../../support/outside/oauth-application.js';
import { type Relay, startRelay } from '../../support/outside/relay.js';
import { servers } from '../../support/servers.js';
import {
  BELOW_A_PATH,
  type SharedSystem,
  sharedSystem,
  startSystem,
  type TestSystem,
  testEnvironment,
} from '../../support/system.js';
import { until } from '../../support/until.js';

const PUBLIC_URL = 'https://hooks.example.com';
const METADATA = '/.well-known/oauth-authorization-server';

/** A request as `fetch` does not send one: with a `Host` of its own, or an absolute target. */
function send(
  url: string,
  path: string,
  headers: Record<string, string> = {},
): Promise<{ status: number; headers: Record<string, string | string[] | undefined>; text: string }> {
  const { port } = new URL(url);
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text }),
      );
    });
    sent.on('error', reject).end();
  });
}

describe('answers of the OAuth endpoints', () => {
  let system: SharedSystem;
  let published: TestSystem;
  let application: OAuthApplication;

  before(async () => {
    system = await sharedSystem();
    published = await startSystem(
      {
        MONGODB_URI: system.environment['MONGODB_URI'] ?? '',
        HOOKLINE_PUBLIC_URL: PUBLIC_URL,
        HOOKLINE_PROXY_HOPS: '1',
        HOOKLINE_PORTAL_NAME: 'Acme & "Co"',
        HOOKLINE_PORTAL_LOGO_URL: 'https://cdn.acme.test/logo.svg?a=1&b=2',
        HOOKLINE_PORTAL_COLOR: '#0a5f4a',
      },
      'api',
    );
    const account = await system.account();
    application = await OAuthApplication.register(account);
    await newPerson(system, account);
  });
  after(async () => {
    await published.stop();
  });

  const authorizationPath = (more: Record<string, string> = {}) => {
    const { pathname, search } = new URL(application.authorizationUrl(more));
    return pathname + search;
  };

  const lies: [string, string, Record<string, string>][] = [
    ['Host', '', { host: 'evil.example' }],
    ['X-Forwarded-Host', '', { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'http' }],
    ['Forwarded', '', { forwarded: 'host=evil.example;proto=http' }],
    ['an absolute request target', 'http://evil.example', {}],
  ];
  for (const [what, origin, headers] of lies) {
    it(`name the public URL, whatever ${what} says`, async () => {
      const metadata = await send(published.url, origin + METADATA, headers);
      assert.equal(metadata.status, 200);
      assert.ok(!metadata.text.includes('evil.example'), metadata.text);
      assert.equal(JSON.parse(metadata.text).token_endpoint, `${PUBLIC_URL}/oauth/token`);
      const login = await send(published.url, origin + authorizationPath(), headers);
      assert.equal(login.status, 303);
      assert.match(String(login.headers['location']), /^\/oauth\/interaction\//);
      const stored = await send(
        published.url,
        String(login.headers['location']).replace('interaction', 'authorize'),
        { ...headers, cookie: cookiesOf(login) },
      );
      assert.ok(!JSON.stringify([stored.headers, stored.text]).includes('evil.example'));
    });
  }

  it('name the address that the API listens on if there is no public URL', async () => {
    const { text } = await send(system.url, METADATA, { host: 'evil.example' });
    assert.equal(JSON.parse(text).authorization_endpoint, `${system.url}/oauth/authorize`);
  });

  it('name the path below which the API is published', async () => {
    const below = await sharedSystem(BELOW_A_PATH, 'api');
    const mine = await OAuthApplication.register(await below.account());
    assert.equal(
      JSON.parse((await send(below.url, METADATA)).text).token_endpoint,
      'https://example.com/hooks/oauth/token',
    );
    const { pathname, search } = new URL(mine.authorizationUrl());
    const { headers } = await send(below.url, pathname + search);
    assert.match(String(headers['location']), /^\/hooks\/oauth\/interaction\//);
    assert.ok([headers['set-cookie']].flat().every((cookie) => /; path=\/hooks\/oauth/.test(cookie ?? '')));
  });

  it('set cookies that travel over TLS only where the public URL is https, whatever the proxy says', async () => {
    const path = authorizationPath();
    for (const [url, proto, secure] of [
      [published.url, 'http', true],
      [system.url, 'https', false],
    ] as const) {
      const { headers } = await send(url, path, { 'x-forwarded-proto': proto });
      const cookies = [headers['set-cookie'] ?? []].flat();
      assert.ok(cookies.length >= 4, String(cookies));
      for (const cookie of cookies) {
        assert.equal(/; secure/i.test(cookie), secure, cookie);
        assert.match(cookie, /; httponly/i);
        assert.match(cookie, /; samesite=lax/i);
      }
    }
  });

  it('are not cached, sniffed or framed', async () => {
    const pages = [
      METADATA,
      '/oauth/jwks',
      authorizationPath(),
      authorizationPath({ client_id: 'nobody' }),
      '/oauth/authorize/ended',
      '/oauth/interaction/ended',
    ];
    for (const path of pages) {
      const { headers } = await send(system.url, path, { accept: 'text/html' });
      assert.equal(headers['cache-control'], 'no-store', path);
      assert.equal(headers['x-content-type-options'], 'nosniff', path);
      assert.equal(headers['x-frame-options'], 'DENY', path);
      assert.match(
        String(headers['content-security-policy']),
        /default-src 'none'.*frame-ancestors 'none'/,
        path,
      );
    }
  });

  it('to a person are in the look of the installation, whose values change neither markup nor policy', async () => {
    const started = await send(published.url, authorizationPath());
    const pages = [
      await send(published.url, String(started.headers['location']), { cookie: cookiesOf(started) }),
      await send(published.url, '/oauth/interaction/ended'),
      await send(published.url, authorizationPath({ client_id: 'nobody' }), { accept: 'text/html' }),
    ];
    assert.deepEqual(
      pages.map(({ status }) => status),
      [200, 404, 400],
    );
    const name = 'Acme &#38; &#34;Co&#34;';
    const logo = '<img src="https://cdn.acme.test/logo.svg?a=1&#38;b=2" alt="">';
    for (const { text, headers } of pages) {
      assert.ok(text.includes(` · ${name}</title>`), text);
      assert.ok(text.includes(`<p class="brand">${logo}${name}</p>`), text);
      const style = /<style>(.*?)<\/style>/s.exec(text)?.[1] ?? '';
      assert.match(style, / :root \{ --accent: light-dark\(#0a5f4a, #[\da-f]{6}\); [^<]+ \}$/);
      const hash = createHash('sha256').update(style).digest('base64');
      const start = `default-src 'none'; style-src 'sha256-${hash}'; img-src https://cdn.acme.test; form-action 'self'`;
      assert.ok(String(headers['content-security-policy']).startsWith(start));
    }
  });

  it('elsewhere in the API are not taken for what they are not, either', async () => {
    for (const path of ['/healthz', '/openapi.json', '/docs', '/v18.0/me', '/nothing', '/v17.0/me']) {
      const { headers } = await send(system.url, path);
      assert.equal(headers['x-content-type-options'], 'nosniff', path);
    }
  });

  it('by form_post may run the one script that submits it, to the client alone', async () => {
    const browser = new Browser();
    const page = await browser.go(application.authorizationUrl({ response_mode: 'form_post' }));
    const sent = await browser.go(formAction(page.text, system.url).replace(/login$/, 'cancel'), {});
    const script = /<script>([^<]+)<\/script>/.exec(sent.text)?.[1] ?? '';
    const hash = createHash('sha256').update(script).digest('base64');
    const policy = sent.headers.get('content-security-policy') ?? '';
    assert.ok(policy.includes(`script-src 'sha256-${hash}'`), policy);
    assert.ok(policy.includes(`form-action ${new URL(REDIRECT_URI).origin};`), policy);
    assert.ok(sent.text.includes('name="error" value="access_denied"'), sent.text);
    const normal = await browser.go(application.authorizationUrl());
    assert.ok(!/script-src '/.test(normal.headers.get('content-security-policy') ?? ''));
  });

  it('store nothing of a request that is longer than a login needs', async () => {
    const long = await send(system.url, authorizationPath({ state: 'x'.repeat(4_096) }));
    assert.equal(long.status, 400);
    assert.match(long.text, /<h1>This request is not valid<\/h1>/);
    assert.equal(long.headers['set-cookie'], undefined);
    assert.equal(long.headers['x-frame-options'], 'DENY');
    assert.equal((await send(system.url, authorizationPath({ state: 'x'.repeat(3_000) }))).status, 303);
  });

  it('to a person are pages in plain English: a login that has ended, and a request that is not valid', async () => {
    const ended = await send(system.url, '/oauth/interaction/ended', { accept: 'text/html' });
    assert.equal(ended.status, 404);
    assert.match(
      ended.text,
      /<h1>This login has ended<\/h1>\n<p>Go back to the application and log in again\.<\/p>/,
    );
    const path = authorizationPath({ redirect_uri: 'https://evil.example/' });
    const invalid = await send(system.url, path, { accept: 'text/html' });
    assert.equal(invalid.status, 400);
    assert.match(invalid.text, /<h1>This request is not valid<\/h1>/);
    const form = await fetch(`${system.url}/oauth/interaction/ended/login`, { method: 'POST' });
    assert.match(await form.text(), /<h1>This login has ended<\/h1>/);
  });
});

describe('the OAuth endpoints without the database', () => {
  let system: TestSystem;
  let relay: Relay;

  before(async () => {
    relay = await startRelay(Number(new URL(servers().mongodbUri).port));
    const uri = new URL((await testEnvironment())['MONGODB_URI'] ?? '');
    uri.port = String(relay.port);
    system = await startSystem({ MONGODB_URI: uri.href }, 'api');
  });
  after(async () => {
    relay.mend();
    await system.stop();
    await relay.close();
  });

  it('answer 503 temporarily_unavailable with Retry-After, pages too, and work again afterwards [world]', async () => {
    const account = await system.account();
    const application = await OAuthApplication.register(account);
    const browser = new Browser();
    const login = await browser.go(application.authorizationUrl());
    relay.cut();
    try {
      const [token, authorization, page] = await Promise.all([
        application.refresh('x'.repeat(43)),
        fetch(application.authorizationUrl(), { headers: { accept: 'text/html' } }),
        browser.go(formAction(login.text, system.url).replace(/\/login$/, '')),
      ]);
      assert.equal(token.status, 503);
      assert.equal(token.error, 'temporarily_unavailable');
      assert.ok(Number(token.headers.get('retry-after')) > 0);
      for (const { status, headers, text } of [
        { ...pick(authorization), text: await authorization.text() },
        page,
      ]) {
        assert.equal(status, 503, text);
        assert.ok(Number(headers.get('retry-after')) > 0);
        assert.match(text, /<h1>Hookline is not available<\/h1>/);
      }
    } finally {
      relay.mend();
    }
    await until(
      () => application.refresh('x'.repeat(43)),
      ({ error }) => error === 'invalid_grant',
    );
    assert.equal((await account.request('GET', '/v18.0/me', {})).status, 200);
  });
});

const pick = ({ status, headers }: Response) => ({ status, headers });

function cookiesOf({ headers }: { headers: Record<string, string | string[] | undefined> }): string {
  return [headers['set-cookie'] ?? []]
    .flat()
    .map((cookie) => cookie.split(';')[0])
    .join('; ');
}
