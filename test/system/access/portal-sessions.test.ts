import assert from 'node:assert/strict';
import { ACCOUNT_SCOPES } from '../../../src/domain/access/api-key.js';
import { PORTAL_SCOPES, PORTAL_TOKEN } from '../../../src/domain/access/portal-session.js';
import { hashSecret } from '../../../src/domain/access/secret-hash.js';
import { type ApiClient, apiClient } from '../../support/api-client.js';
import { newestChange } from '../../support/parts/changes.js';
import { type Receiver, startReceiver } from '../../support/receiver.js';
import { type SharedSystem, sharedSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

const HOUR_MS = 3_600_000;

describe('portal sessions', () => {
  let system: SharedSystem;
  let receiver: Receiver;
  let client: ApiClient;

  before(async () => {
    system = await sharedSystem({ HOOKLINE_PUBLIC_URL: 'https://hooks.example.com/' });
    receiver = await startReceiver();
    client = await system.account();
  });
  after(() => receiver.close());

  const create = (body: unknown = {}, by = client) =>
    by.request('POST', `/v18.0/accounts/${by.accountId}/portal_sessions`, { body });
  /** A client with the token of a new session. */
  const subscriber = async (body: unknown = {}) => {
    const { json } = await create(body);
    return withToken(json.token, json.id);
  };
  /** The account's client with another token. */
  const withToken = (key: string, keyId = '') =>
    apiClient(system.url, { accountId: client.accountId, key, keyId });
  const minutesUntil = (time: string) => Math.round((Date.parse(time) - Date.now()) / 60_000);

  it('come as a link with the token in the fragment, last an hour, and can do what a subscriber needs', async () => {
    const made = await client.request('POST', `/v18.0/accounts/${client.accountId}/portal_sessions`);
    assert.equal(made.status, 201, made.text);
    const { id, token, url, expires_at, scopes } = made.json;
    assert.equal(url, `https://hooks.example.com/portal#token=${token}`);
    assert.equal(minutesUntil(expires_at), 60);
    assert.deepEqual(scopes, PORTAL_SCOPES);
    assert.equal(made.headers.get('cache-control'), 'no-store');
    const session = await withToken(token).request('GET', '/v18.0/session');
    assert.deepEqual(session.json, {
      type: 'portal_session',
      id,
      name: 'portal',
      account: { id: client.accountId, name: 'test' },
      profile_id: client.accountId.replace('acct', 'prof'),
      scopes: [...PORTAL_SCOPES],
      expires_at,
    });
    assert.equal(session.headers.get('cache-control'), 'no-store');
  });

  it('let a subscriber register an endpoint, test it, and see the delivery; the change names the session', async () => {
    const portal = await subscriber({ name: 'Ada' });
    const endpoint = await portal.register(receiver.url);
    const test = await portal.request('POST', `/v18.0/endpoints/${endpoint.id}/test`);
    assert.equal(test.status, 202, test.text);
    await portal.deliveryUntil(test.json.deliveries[0].id, ({ status }) => status === 'delivered');
    assert.equal((await portal.request('GET', `/v18.0/endpoints/${endpoint.id}/secret`)).status, 200);
    const { actor } = await newestChange(client, `endpoint:${endpoint.id}`);
    assert.deepEqual(actor, { type: 'portal_session', id: portal.keyId, name: 'Ada' });
  });

  it('cannot post events, change event kinds, or see keys, clients, changes or accounts', async () => {
    const portal = await subscriber();
    const refused: [string, string, unknown?][] = [
      ['POST', '/events/purchase', {}],
      ['POST', '/event_kinds', { name: 'own.kind', schema: {} }],
      ['PUT', '/event_kinds/own.kind', { schema: {} }],
      ['DELETE', '/event_kinds/own.kind'],
      ['GET', '/api_keys'],
      ['POST', '/api_keys', { name: 'x', scopes: ['endpoints:read'] }],
      ['GET', '/oauth_clients'],
      ['GET', '/profiles'],
      ['GET', '/changes'],
      ['GET', '/accounts'],
      ['POST', `/accounts/${client.accountId}/portal_sessions`, {}],
    ];
    for (const [method, path, body] of refused) {
      const answer = await portal.request(method, `/v18.0${path}`, body ? { body } : {});
      assert.equal(answer.status, 403, `${method} ${path}: ${answer.text}`);
    }
  });

  it('last as long as asked, at most a day, and no longer than the key that makes them', async () => {
    assert.equal(minutesUntil((await create({ expires_in: '24h' })).json.expires_at), 24 * 60);
    for (const expires_in of ['25h', '59s', 'soon', '']) {
      const { status, json } = await create({ expires_in });
      assert.equal(status, 400, expires_in);
      assert.deepEqual(json.errors[0].pointer, '/expires_in');
    }
    const expires_at = new Date(Date.now() + HOUR_MS / 2).toISOString();
    const brief = await client.request('POST', '/v18.0/api_keys', {
      body: { name: 'brief', scopes: ACCOUNT_SCOPES, expires_at },
    });
    const { json } = await create({}, withToken(brief.json.key));
    assert.equal(json.expires_at, expires_at);
  });

  it('are given no scope that their maker does not hold, and none that is not for subscribers', async () => {
    const scopes = ['keys:write', 'endpoints:read'];
    const { json: key } = await client.request('POST', '/v18.0/api_keys', { body: { name: 'few', scopes } });
    const few = withToken(key.key);
    assert.equal((await create({}, few)).status, 403);
    assert.deepEqual((await create({ scopes: ['endpoints:read'] }, few)).json.scopes, ['endpoints:read']);
    assert.equal((await create({ scopes: ['keys:write'] })).status, 400);
    assert.equal((await create({ scopes: [] })).status, 400);
  });

  it('are listed without their tokens, ended by the account, and by their holder', async () => {
    const [one, two] = [await subscriber({ name: 'one' }), await subscriber({ name: 'two' })];
    const list = await client.request('GET', `/v18.0/accounts/${client.accountId}/portal_sessions?limit=100`);
    assert.ok(list.json.data.some(({ id }: { id: string }) => id === one.keyId));
    assert.ok(!list.text.includes(one.key) && !list.text.includes(hashSecret(one.key)));
    const revoke = () =>
      client.request('DELETE', `/v18.0/accounts/${client.accountId}/portal_sessions/${one.keyId}`);
    assert.equal((await revoke()).status, 204);
    assert.equal((await revoke()).status, 404);
    assert.equal((await two.request('DELETE', '/v18.0/session')).status, 204);
    for (const ended of [one, two]) {
      const { json } = await until(
        () => ended.request('GET', '/v18.0/session'),
        ({ status }) => status === 401,
      );
      assert.equal(json.code, 'revoked_token');
    }
    assert.equal((await client.request('DELETE', '/v18.0/session')).json.code, 'not_a_portal_session');
  });

  it('that have expired, or never were, are refused, each with its reason', async () => {
    const expires_at = new Date(Date.now() - 60_000);
    const { token } = await system.database.portalSessions.create(
      client.accountId,
      { name: 'old', scopes: ['endpoints:read'], expires_at, return_url: 'https://app.acme.example/' },
      { actor: { type: 'operator', id: 'operator' } },
    );
    const codes = [];
    for (const key of [token, PORTAL_TOKEN.make(), `${token}x`, 'hlps_']) {
      const answer = await withToken(key).request('GET', '/v18.0/session');
      assert.equal(answer.status, 401);
      codes.push(answer.json.code);
      // Whoever had the link is told where to get another.
      const known = key === token ? { return_url: 'https://app.acme.example/' } : undefined;
      assert.deepEqual(answer.json.portal, known);
    }
    for (const return_url of [
      'javascript:alert(1)',
      'http://app.acme.example/',
      'https://a:b@acme.example/',
    ]) {
      const path = `/v18.0/accounts/${client.accountId}/portal_sessions`;
      const refused = await client.request('POST', path, { body: { return_url } });
      assert.equal(refused.status, 400, return_url);
      assert.equal(refused.json.errors[0].pointer, '/return_url');
    }
    assert.deepEqual(codes, ['expired_token', 'invalid_token', 'malformed_token', 'malformed_token']);
  });

  it('of another account are not there', async () => {
    const stranger = await system.account();
    const portal = await subscriber();
    for (const [method, path] of [
      ['POST', ''],
      ['GET', ''],
      ['DELETE', `/${portal.keyId}`],
    ]) {
      const at = `/v18.0/accounts/${client.accountId}/portal_sessions${path}`;
      const answer = await stranger.request(method ?? '', at);
      assert.equal(answer.status, 404, `${method} ${at}: ${answer.text}`);
    }
    const own = `/v18.0/accounts/${stranger.accountId}/portal_sessions/${portal.keyId}`;
    assert.equal((await stranger.request('DELETE', own)).status, 404);
    assert.equal((await portal.request('GET', '/v18.0/session')).status, 200);
  });

  it('are one kind of session: API keys and OAuth tokens have one, too', async () => {
    const key = (await client.request('GET', '/v18.0/session')).json;
    assert.equal(key.type, 'api_key');
    assert.equal(key.id, client.keyId);
    assert.equal(key.name, 'test');
    assert.ok(!('expires_at' in key));
    const { json: application } = await client.request('POST', '/v18.0/oauth_clients', {
      body: { name: 'shop', scopes: ['deliveries:read'] },
    });
    const asked = await fetch(`${system.url}/oauth/token`, {
      method: 'POST',
      headers: { authorization: `Basic ${btoa(`${application.id}:${application.secret}`)}` },
      body: new URLSearchParams({ grant_type: 'client_credentials', scope: 'deliveries:read' }),
    });
    const { access_token } = (await asked.json()) as { access_token: string };
    const token = (await withToken(access_token).request('GET', '/v18.0/session')).json;
    assert.deepEqual(
      [token.type, token.id, token.name, token.scopes],
      ['oauth_client', application.id, 'shop', ['deliveries:read']],
    );
    assert.equal(minutesUntil(token.expires_at), 60);
    const powerless = await system.account([]);
    assert.equal((await powerless.request('GET', '/v18.0/session')).status, 200);
  });
});
