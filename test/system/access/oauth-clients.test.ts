import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import type { ApiClient } from '../../support/api-client.js';
import { Browser, logInAndAllow, newPerson, type Person } from '../../support/oauth.js';
import { OAuthApplication } from '../../support/outside/oauth-application.js';
import { type SharedSystem, secondProcess, sharedSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

const KEPT_URI = 'http://127.0.0.1:9/kept';
const REMOVED_URI = 'http://127.0.0.1:9/removed';
const VERIFIER = 'a verifier of at least forty-three characters'.replaceAll(' ', '-');
const CHALLENGE = createHash('sha256').update(VERIFIER).digest('base64url');

interface Registered {
  id: string;
  secret: string;
}

interface TokenAnswer {
  access_token?: string;
  refresh_token?: string;
  scope?: string;
  error?: string;
}

describe('an OAuth client', () => {
  let system: SharedSystem;
  let second: SharedSystem;
  let account: ApiClient;
  let person: Person;

  before(async () => {
    system = await sharedSystem();
    second = await secondProcess(system);
    account = await system.account();
    person = await newPerson(system, account, ['profile:read', 'deliveries:read']);
  });

  const CONFIDENTIAL = { name: 'shop', scopes: ['profile:read', 'deliveries:read'] };
  const WITH_CODE = {
    ...CONFIDENTIAL,
    grant_types: ['authorization_code', 'refresh_token'],
    redirect_uris: [KEPT_URI, REMOVED_URI],
    token_endpoint_auth_method: 'client_secret_post',
  };
  const register = async (body: Record<string, unknown>): Promise<Registered> => {
    const { status, json, text } = await account.request('POST', '/v18.0/oauth_clients', { body });
    assert.equal(status, 201, text);
    return json;
  };
  const replace = ({ id }: Registered, body: Record<string, unknown>, by = account) =>
    by.request('PUT', `/v18.0/oauth_clients/${id}`, { body });
  const rotate = ({ id }: Registered, body: Record<string, unknown> = {}, by = account) =>
    by.request('POST', `/v18.0/oauth_clients/${id}/secret/rotate`, { body });
  const token = async (fields: Record<string, string>, authorization?: string, url = system.url) => {
    const response = await fetch(`${url}/oauth/token`, {
      method: 'POST',
      headers: authorization === undefined ? {} : { authorization },
      body: new URLSearchParams(fields),
    });
    return { ...((await response.json()) as TokenAnswer), status: response.status };
  };
  /** A token by client credentials: what came of it, on each process. */
  const credentials = async ({ id }: Registered, secret: string, scope = 'profile:read') => {
    const basic = `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;
    const fields = { grant_type: 'client_credentials', scope };
    return [await token(fields, basic), await token(fields, basic, second.url)].map(
      ({ status, error }) => error ?? status,
    );
  };
  const authorizationUrl = ({ id }: Registered, redirect_uri: string) =>
    `${system.url}/oauth/authorize?${new URLSearchParams({
      client_id: id,
      redirect_uri,
      response_type: 'code',
      scope: 'profile:read deliveries:read',
      code_challenge: CHALLENGE,
      code_challenge_method: 'S256',
    })}`;
  const code = async (client: Registered, redirectUri: string) => {
    const left = await logInAndAllow(new Browser(), authorizationUrl(client, redirectUri), person);
    return left.searchParams.get('code') ?? '';
  };
  const exchange = async (client: Registered, redirect_uri: string, withCode: string) =>
    token({
      grant_type: 'authorization_code',
      client_id: client.id,
      client_secret: client.secret,
      redirect_uri,
      code: withCode,
      code_verifier: VERIFIER,
    });

  it('is replaced as a whole, and keeps its secret', async () => {
    const client = await register(CONFIDENTIAL);
    const body = { name: 'shop, renamed', scopes: ['profile:read', 'endpoints:read'] };
    const { status, json, text } = await replace(client, body);
    assert.equal(status, 200, text);
    assert.deepEqual(json.scopes, body.scopes);
    assert.equal(json.name, body.name);
    assert.ok(!text.includes(client.secret));
    assert.deepEqual((await account.request('GET', `/v18.0/oauth_clients/${client.id}`)).json, json);
    assert.deepEqual(await credentials(client, client.secret, 'endpoints:read'), [200, 200]);
  });

  it('that loses a scope gets it for no new token, on any process', async () => {
    const client = await register(CONFIDENTIAL);
    assert.deepEqual(await credentials(client, client.secret, 'deliveries:read'), [200, 200]);
    await replace(client, { ...CONFIDENTIAL, scopes: ['profile:read'] });
    assert.deepEqual(await credentials(client, client.secret, 'deliveries:read'), [
      'invalid_scope',
      'invalid_scope',
    ]);
    assert.deepEqual(await credentials(client, client.secret), [200, 200]);
  });

  it('that loses a scope gets it by no code and no refresh token that it had before', async () => {
    const client = await register(WITH_CODE);
    const before = await exchange(client, KEPT_URI, await code(client, KEPT_URI));
    assert.equal(before.scope, 'profile:read deliveries:read');
    const unused = await code(client, KEPT_URI);
    await replace(client, { ...WITH_CODE, scopes: ['profile:read'] });
    const refreshed = await token({
      grant_type: 'refresh_token',
      client_id: client.id,
      client_secret: client.secret,
      refresh_token: before.refresh_token ?? '',
    });
    assert.equal(refreshed.scope, 'profile:read');
    assert.equal((await exchange(client, KEPT_URI, unused)).scope, 'profile:read');
    const headers = { authorization: `Bearer ${refreshed.access_token}` };
    assert.equal((await fetch(`${system.url}/v18.0/me`, { headers })).status, 200);
    const deliveries = await fetch(`${system.url}/v18.0/deliveries`, { headers });
    assert.equal(deliveries.status, 403);
  });

  it('that loses a redirect URI redirects nobody there, and gets no token for a code sent there before', async () => {
    const client = await register(WITH_CODE);
    const [kept, removed] = [await code(client, KEPT_URI), await code(client, REMOVED_URI)];
    const body = { ...WITH_CODE, redirect_uris: [KEPT_URI] };
    assert.equal((await replace(client, body)).status, 200);
    const { status, left, text } = await new Browser().go(authorizationUrl(client, REMOVED_URI));
    assert.equal(status, 400);
    assert.equal(left, undefined);
    assert.match(text, /redirect_uri/);
    assert.equal((await exchange(client, REMOVED_URI, removed)).error, 'invalid_grant');
    assert.equal((await exchange(client, KEPT_URI, kept)).status, 200);
  });

  it('gets a new secret that is shown once, and the one before stops at once, on every process', async () => {
    const client = await register(CONFIDENTIAL);
    assert.deepEqual(await credentials(client, client.secret), [200, 200]);
    const { status, json, text, headers } = await rotate(client);
    assert.equal(status, 200, text);
    assert.match(json.secret, /^hlcs_/);
    assert.equal(headers.get('cache-control'), 'no-store');
    assert.deepEqual(await credentials(client, client.secret), ['invalid_client', 'invalid_client']);
    assert.deepEqual(await credentials(client, json.secret), [200, 200]);
    const shown = await account.request('GET', `/v18.0/oauth_clients/${client.id}`);
    assert.ok(!shown.text.includes(json.secret));
  });

  it('may use the secret before until the overlap ends, and never an older one', async () => {
    const client = await register(CONFIDENTIAL);
    const newer = (await rotate(client, { overlap: '1h' })).json.secret;
    assert.deepEqual(await credentials(client, client.secret), [200, 200]);
    assert.deepEqual(await credentials(client, newer), [200, 200]);
    const newest = (await rotate(client, { overlap: '2s' })).json.secret;
    assert.deepEqual(await credentials(client, client.secret), ['invalid_client', 'invalid_client']);
    await until(
      () => credentials(client, newer),
      (answers) => answers.every((answer) => answer === 'invalid_client'),
    );
    assert.deepEqual(await credentials(client, newest), [200, 200]);
  });

  it('gets no scope that its owner lacks, and shows no secret to a caller that lacks its scopes', async () => {
    const client = await register(CONFIDENTIAL);
    const { json } = await account.request('POST', '/v18.0/api_keys', {
      body: { name: 'keys alone', scopes: ['keys:read', 'keys:write', 'profile:read'] },
    });
    const headers = { authorization: `Bearer ${json.key}` };
    const path = `/v18.0/oauth_clients/${client.id}`;
    for (const [method, to, body] of [
      ['PUT', path, CONFIDENTIAL],
      ['POST', `${path}/secret/rotate`, {}],
    ] as const) {
      const refused = await account.request(method, to, { body, headers });
      assert.equal(refused.status, 403, refused.text);
      assert.equal(refused.json.code, 'missing_scope');
      assert.match(refused.json.detail, /deliveries:read/);
    }
    assert.equal(
      (await account.request('PUT', path, { body: { name: 'x', scopes: ['profile:read'] }, headers })).status,
      403,
    );
    assert.deepEqual(await credentials(client, client.secret), [200, 200]);
    assert.equal((await replace(client, { ...CONFIDENTIAL, scopes: ['admin'] })).status, 403);
  });

  it('stays public, or keeps its secret', async () => {
    const shared = { ...WITH_CODE, token_endpoint_auth_method: 'none' };
    const [confidential, open] = [await register(WITH_CODE), await register(shared)];
    for (const [client, body] of [
      [confidential, shared],
      [open, WITH_CODE],
    ] as const) {
      const { status, json } = await replace(client, body);
      assert.equal(status, 400);
      assert.equal(json.errors[0].pointer, '/token_endpoint_auth_method');
    }
    const rotated = await rotate(open);
    assert.equal(rotated.status, 409);
    assert.equal(rotated.json.code, 'client_without_secret');
    const basic = { ...WITH_CODE, token_endpoint_auth_method: 'client_secret_basic' };
    assert.equal((await replace(confidential, basic)).status, 200);
  });

  it('is refused what registration refuses', async () => {
    const client = await register(CONFIDENTIAL);
    const { status, json } = await replace(client, { ...WITH_CODE, redirect_uris: [] });
    assert.equal(status, 400);
    assert.equal(json.errors[0].pointer, '/redirect_uris');
  });

  const refusedUris = [
    'https://user@shop.example/',
    'https://user:password@shop.example/',
    'https://@shop.example/',
    'https://shop.example\\@evil.example/',
    'https://shop.example;sandbox/',
    'https://shop.example,evil.example/',
    "https://shop.example'/",
    'https://shop.example/ https://evil.example/',
    'https://shop.example/\r\nx: y',
    'https://shop.example/#fragment',
    'http://shop.example/',
    'http://127.0.0.1.evil.example/',
    'javascript:alert(1)',
    'com.example.app:/callback',
  ];
  for (const uri of refusedUris) {
    it(`is not registered with the redirect URI ${JSON.stringify(uri)}`, async () => {
      const { status, json } = await account.request('POST', '/v18.0/oauth_clients', {
        body: { ...WITH_CODE, redirect_uris: [uri] },
      });
      assert.equal(status, 400);
      assert.equal(json.errors[0].pointer, '/redirect_uris/0');
    });
  }

  describe('that is public and waits on loopback', () => {
    const register = (uri: string, more: Record<string, unknown> = {}) =>
      OAuthApplication.register(account, { redirect_uris: [uri], ...more });

    for (const host of ['127.0.0.1', '[::1]', 'localhost']) {
      it(`may listen on any port of ${host}`, async () => {
        const application = await register(`http://${host}/callback`);
        const redirect_uri = `http://${host}:51004/callback`;
        const left = await logInAndAllow(
          new Browser(),
          application.authorizationUrl({ redirect_uri, scope: 'profile:read' }),
          person,
        );
        assert.equal(left.port, '51004');
        assert.equal((await application.exchange(left, redirect_uri)).status, 200);
      });
    }

    it('may have no other host or path, and with a secret no other port', async () => {
      const open = await register('http://127.0.0.1/callback');
      const confidential = await register('http://127.0.0.1/callback', {
        token_endpoint_auth_method: 'client_secret_post',
      });
      for (const [application, redirect_uri] of [
        [open, 'http://127.0.0.1:9/other'],
        [open, 'http://localhost:9/callback'],
        [open, 'http://127.0.0.1:9/callback?more'],
        [open, 'https://127.0.0.1:9/callback'],
        [open, 'http://user@127.0.0.1:9/callback'],
        [confidential, 'http://127.0.0.1:9/callback'],
      ] as const) {
        const answer = await new Browser().go(application.authorizationUrl({ redirect_uri }));
        assert.equal(answer.status, 400, redirect_uri);
        assert.equal(answer.left, undefined);
      }
    });

    it('asks for consent each time, as any program on the device could listen there', async () => {
      const application = await register('http://127.0.0.1/callback');
      const browser = new Browser();
      const address = application.authorizationUrl({
        redirect_uri: 'http://127.0.0.1:51004/callback',
        scope: 'profile:read',
      });
      await logInAndAllow(browser, address, person);
      assert.match((await browser.go(address)).text, /<h1>Allow /);
    });
  });
});
