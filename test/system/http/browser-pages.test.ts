import assert from 'node:assert/strict';
import * as oauth from 'oauth4webapi';
import type { ApiClient } from '../../support/api-client.js';
import { Browser, logInAndAllow, newPerson } from '../../support/oauth.js';
import { fetchFromPage } from '../../support/outside/script-of-a-page.js';
import { type SharedSystem, sharedSystem } from '../../support/system.js';

const ORIGIN = 'https://app.example';
const REDIRECT_URI = `${ORIGIN}/callback`;

describe('scripts of browser pages on other origins', () => {
  let system: SharedSystem;
  let account: ApiClient;
  before(async () => {
    system = await sharedSystem({ HOOKLINE_RATE_LIMIT_TOKEN: '1000/1m' }, 'api');
    account = await system.account();
  });

  it('get a token with PKCE, call the API with it, and revoke it', async () => {
    const person = await newPerson(system, account);
    const { json: client } = await account.request('POST', '/v18.0/oauth_clients', {
      body: {
        name: 'Single page',
        scopes: ['profile:read'],
        grant_types: ['authorization_code', 'refresh_token'],
        redirect_uris: [REDIRECT_URI],
        token_endpoint_auth_method: 'none',
      },
    });
    const metadata = await fetchFromPage(ORIGIN, `${system.url}/.well-known/oauth-authorization-server`);
    const server = JSON.parse(metadata.text);
    const verifier = oauth.generateRandomCodeVerifier();
    const authorize = new URL(server.authorization_endpoint);
    authorize.search = String(
      new URLSearchParams({
        client_id: client.id,
        redirect_uri: REDIRECT_URI,
        response_type: 'code',
        scope: 'profile:read',
        code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      }),
    );
    const redirect = await logInAndAllow(new Browser(), authorize.href, person);
    const form = (fields: Record<string, string>) => ({
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: String(new URLSearchParams({ client_id: client.id, ...fields })),
    });
    const granted = await fetchFromPage(
      ORIGIN,
      server.token_endpoint,
      form({
        grant_type: 'authorization_code',
        code: redirect.searchParams.get('code') ?? '',
        redirect_uri: REDIRECT_URI,
        code_verifier: verifier,
      }),
    );
    assert.equal(granted.status, 200, granted.text);
    const { access_token: token } = JSON.parse(granted.text);

    const me = `${system.url}/v18.0/me?fields=id`;
    const authorization = `Bearer ${token}`;
    const answer = await fetchFromPage(ORIGIN, me, { headers: { authorization } });
    assert.equal(answer.status, 200, answer.text);
    assert.deepEqual(JSON.parse(answer.text), { id: person.profileId });
    for (const name of ['etag', 'ratelimit', 'ratelimit-policy', 'x-request-id'])
      assert.ok(answer.headers[name], `${name} cannot be read`);
    const again = { authorization, 'if-none-match': answer.headers['etag'] ?? '' };
    assert.equal((await fetchFromPage(ORIGIN, me, { headers: again })).status, 304);

    const revoked = await fetchFromPage(ORIGIN, server.revocation_endpoint, form({ token }));
    assert.equal(revoked.status, 200, revoked.text);
  });

  for (const [method, path, headers] of [
    ['PATCH', '/v18.0/endpoints/ep_1', { 'content-type': 'application/merge-patch+json' }],
    ['PUT', '/v18.0/profiles/prof_1', { 'if-match': '"1"' }],
    ['POST', '/v18.0/events/purchase', { 'content-type': 'application/json', 'idempotency-key': 'a' }],
    ['DELETE', '/v18.0/nothing', {}],
    ['GET', '/v17.0/me', { 'x-of-a-library': '1' }],
  ] as const) {
    it(`can read why ${method} ${path} is refused`, async () => {
      const {
        status,
        text,
        headers: readable,
      } = await fetchFromPage(ORIGIN, system.url + path, {
        method,
        headers: { ...headers, authorization: 'Bearer nonsense' },
      });
      assert.equal(status, path.startsWith('/v17') ? 410 : 401, text);
      assert.equal(readable['x-request-id'], JSON.parse(text).request_id);
    });
  }

  it('get no answer from the pages where people log in', async () => {
    await assert.rejects(
      fetchFromPage(ORIGIN, `${system.url}/oauth/interaction/x`, { headers: { authorization: 'x' } }),
      assert.AssertionError,
    );
  });
});
