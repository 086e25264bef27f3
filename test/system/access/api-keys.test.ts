import assert from 'node:assert/strict';
import { API_KEY, OPERATOR_SCOPES } from '../../../src/domain/access/api-key.js';
import { OPERATOR } from '../../../src/domain/change/change.js';
import { TIMINGS } from '../../../src/domain/timings.js';
import type { ApiClient } from '../../support/api-client.js';
import { readAll } from '../../support/parts/pages.js';
import { type SharedSystem, secondProcess, sharedSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

describe('API keys', () => {
  let system: SharedSystem;
  let second: SharedSystem;
  let client: ApiClient;

  before(async () => {
    system = await sharedSystem();
    second = await secondProcess(system);
    client = await system.account();
  });

  const create = async (body: Record<string, unknown> = {}) => {
    const answer = await client.request('POST', '/v18.0/api_keys', {
      body: { name: 'test', scopes: ['profile:read'], ...body },
    });
    assert.equal(answer.status, 201, answer.text);
    return answer.json as { id: string; key: string };
  };
  const me = async (token: string, url = client.url) => {
    const response = await fetch(`${url}/v18.0/me`, { headers: { authorization: `Bearer ${token}` } });
    const challenge = response.headers.get('www-authenticate') ?? '';
    return { status: response.status, challenge, json: (await response.json()) as { code?: string } };
  };

  it('are shown once, with a prefix and a checksum that a scanner can check', async () => {
    const { id, key } = await create();
    assert.ok(API_KEY.isOne(key));
    const shown = await client.request('GET', `/v18.0/api_keys/${id}`);
    assert.equal(shown.status, 200);
    assert.ok(!shown.text.includes(key));
    const list = await client.request('GET', '/v18.0/api_keys?limit=100');
    assert.ok(list.text.includes(id) && !list.text.includes(key));
  });

  it('note when they were last used', async () => {
    const { id, key } = await create();
    assert.equal((await client.request('GET', `/v18.0/api_keys/${id}`)).json.last_used_at, undefined);
    await me(key);
    const { json } = await until(
      () => client.request('GET', `/v18.0/api_keys/${id}`),
      (answer) => answer.json.last_used_at !== undefined,
    );
    assert.ok(Math.abs(Date.parse(json.last_used_at) - Date.now()) < 60_000);
  });

  it('stop working when they expire', async () => {
    const expiring = async (inMs: number) =>
      (await create({ expires_at: new Date(Date.now() + inMs).toISOString() })).key;
    assert.equal((await me(await expiring(3_600_000))).status, 200);
    // Time for a request before that, on a slow machine.
    const key = await expiring(4_000);
    const { status, challenge } = await until(
      () => me(key),
      ({ json }) => json.code === 'expired_token',
    );
    assert.equal(status, 401);
    assert.match(challenge, /error="invalid_token", error_description="The API key expired at /);
  });

  it('stop working within 5 seconds of being revoked, on every process', async () => {
    const { id, key } = await create();
    assert.equal((await me(key)).status, 200);
    assert.equal((await me(key, second.url)).status, 200);
    assert.equal((await client.request('DELETE', `/v18.0/api_keys/${id}`)).status, 204);
    assert.equal((await me(key)).json.code, 'revoked_token');
    const elsewhere = await until(
      () => me(key, second.url),
      ({ status }) => status === 401,
    );
    // The rest of the five seconds is the machine's.
    assert.ok(TIMINGS.token_lifetime_ms < 5_000);
    assert.equal(elsewhere.json.code, 'revoked_token');
  });

  it('that were revoked stay in the list for the record, and are gone otherwise', async () => {
    const { id } = await create();
    assert.equal((await client.request('DELETE', `/v18.0/api_keys/${id}`)).status, 204);
    assert.equal((await client.request('GET', `/v18.0/api_keys/${id}`)).status, 404);
    assert.equal((await client.request('DELETE', `/v18.0/api_keys/${id}`)).status, 404);
    const list = await client.request('GET', '/v18.0/api_keys?limit=100');
    const listed = list.json.data.find((key: { id: string }) => key.id === id);
    assert.ok(Math.abs(Date.parse(listed.revoked_at) - Date.now()) < 60_000, list.text);
  });

  it('give away only what their maker holds', async () => {
    const { status, json, headers } = await client.request('POST', '/v18.0/api_keys', {
      body: { name: 'more', scopes: ['admin'] },
    });
    assert.equal(status, 403);
    assert.equal(json.code, 'missing_scope');
    assert.match(headers.get('www-authenticate') ?? '', /error="insufficient_scope", scope="admin"/);
  });

  it('never outlive the key that makes them', async () => {
    const ends = new Date(Date.now() + 60_000).toISOString();
    const maker = await create({ scopes: ['profile:read', 'keys:write'], expires_at: ends });
    const headers = { authorization: `Bearer ${maker.key}` };
    const make = (more: Record<string, unknown>) =>
      client.request('POST', '/v18.0/api_keys', {
        body: { name: 'child', scopes: ['profile:read'], ...more },
        headers,
      });
    assert.equal((await make({})).json.expires_at, ends, 'the same end by default');
    const sooner = new Date(Date.now() + 30_000).toISOString();
    assert.equal((await make({ expires_at: sooner })).json.expires_at, sooner);
    const later = await make({ expires_at: new Date(Date.now() + 120_000).toISOString() });
    assert.equal(later.status, 400);
    assert.equal(later.json.errors[0].pointer, '/expires_at');
    assert.ok(later.json.errors[0].detail.includes(ends));
  });

  it('that expire make accounts whose first key expires with them', async () => {
    const ends = new Date(Date.now() + 60_000);
    const { key } = await system.database.apiKeys.create(
      client.accountId,
      'admin',
      OPERATOR_SCOPES,
      OPERATOR,
      {
        expires_at: ends,
      },
    );
    const headers = { authorization: `Bearer ${key}` };
    const made = await client.request('POST', '/v18.0/accounts', { body: { name: 'Acme' }, headers });
    assert.equal(made.json.api_key?.expires_at, ends.toISOString(), made.text);
  });

  it('that expire make nothing that does not: no OAuth client, secret or login', async () => {
    const scopes = ['profile:read', 'keys:write'];
    const { key } = await create({ scopes, expires_at: new Date(Date.now() + 60_000).toISOString() });
    const made = await client.request('POST', '/v18.0/oauth_clients', { body: { name: 'app', scopes } });
    const app = `/v18.0/oauth_clients/${made.json.id}`;
    const login = { login_name: 'ada', password: 'difference engine', scopes: ['profile:read'] };
    for (const [method, path, body] of [
      ['POST', '/v18.0/oauth_clients', { name: 'mine', scopes }],
      ['PUT', app, { name: 'mine', scopes }],
      ['POST', `${app}/secret/rotate`, {}],
      ['PUT', `/v18.0/profiles/${client.accountId.replace('acct_', 'prof_')}/login`, login],
    ] as const) {
      const answer = await client.request(method, path, {
        body,
        headers: { authorization: `Bearer ${key}` },
      });
      assert.equal(answer.status, 403, `${method} ${path}: ${answer.text}`);
      assert.equal(answer.json.code, 'expiring_key');
    }
  });

  it('end only access that they could give; themselves always, and a platform all of its accounts', async () => {
    const few = await create({ scopes: ['keys:write', 'profiles:write', 'deliveries:read'] });
    const equal = await create({ scopes: ['deliveries:read'] });
    const by = (key: string, path: string) =>
      client.request('DELETE', `/v18.0${path}`, { headers: { authorization: `Bearer ${key}` } });
    const { json: application } = await client.request('POST', '/v18.0/oauth_clients', {
      body: { name: 'wide', scopes: ['events:write'] },
    });
    const { json: profile } = await client.request('POST', '/v18.0/profiles', {
      body: { username: 'grace', name: 'Grace' },
    });
    await client.request('PUT', `/v18.0/profiles/${profile.id}/login`, {
      body: { login_name: 'grace', password: 'compiler of 1952', scopes: ['endpoints:write'] },
    });
    const sessions = `/accounts/${client.accountId}/portal_sessions`;
    const { json: session } = await client.request('POST', `/v18.0${sessions}`, { body: {} });
    const wider = [
      `/api_keys/${client.keyId}`,
      `/oauth_clients/${application.id}`,
      `/profiles/${profile.id}/login`,
      `/profiles/${profile.id}`,
      `${sessions}/${session.id}`,
    ];
    for (const path of wider) {
      const { status, json } = await by(few.key, path);
      assert.deepEqual([status, json?.code], [403, 'missing_scope'], path);
    }
    assert.equal((await by(few.key, `/api_keys/${equal.id}`)).status, 204);
    assert.equal((await by(few.key, `/api_keys/${few.id}`)).status, 204, 'itself');
    for (const path of wider.slice(1)) assert.equal((await by(client.key, path)).status, 204, path);

    const platform = await system.account(['platform', 'keys:write']);
    const { json: customer } = await platform.request('POST', '/v18.0/accounts', { body: { name: 'Acme' } });
    const { id } = (await system.database.apiKeys.create(customer.id, 'wide', ['events:write'], OPERATOR))
      .api_key;
    const ended = await platform.request('DELETE', `/v18.0/api_keys/${id}`, {
      headers: { 'hookline-account': customer.id },
    });
    assert.equal(ended.status, 204, ended.text);
  });

  it('use a profile that their maker may read', async () => {
    const profile = await client.request('POST', '/v18.0/profiles', {
      body: { username: 'ada', name: 'Ada' },
    });
    const { key } = await create({ scopes: ['profile:read', 'keys:write'] });
    const headers = { authorization: `Bearer ${key}` };
    const body = { name: 'child', scopes: ['profile:read'], profile_id: profile.json.id };
    const refused = await client.request('POST', '/v18.0/api_keys', { body, headers });
    assert.equal(refused.status, 403);
    assert.match(refused.json.detail, /profiles:read/);
    const login = { login_name: 'ada', password: 'difference engine', scopes: ['profile:read'] };
    const path = `/v18.0/profiles/${profile.json.id}/login`;
    assert.equal((await client.request('PUT', path, { body: login, headers })).status, 403);
    assert.equal((await client.request('POST', '/v18.0/api_keys', { body })).status, 201);
  });

  it('refuse a past expiry and another account’s profile', async () => {
    const stranger = await system.account();
    for (const [body, pointer] of [
      [{ expires_at: '2020-01-01T00:00:00Z' }, '/expires_at'],
      [{ profile_id: stranger.accountId.replace('acct_', 'prof_') }, '/profile_id'],
    ] as const) {
      const { status, json } = await client.request('POST', '/v18.0/api_keys', {
        body: { name: 'x', scopes: ['profile:read'], ...body },
      });
      assert.equal(status, 400);
      assert.equal(json.errors[0].pointer, pointer);
    }
  });

  it('have a code of their own for each way to be refused', async () => {
    const anonymous = await fetch(`${client.url}/v18.0/me`);
    assert.equal(anonymous.status, 401);
    assert.equal(anonymous.headers.get('www-authenticate'), 'Bearer realm="hookline"');
    assert.equal(((await anonymous.json()) as { code: string }).code, 'missing_token');
    assert.equal((await me('nonsense')).json.code, 'malformed_token');
    assert.equal((await me(client.key.slice(0, -1))).json.code, 'malformed_token');
    assert.equal((await me(API_KEY.make())).json.code, 'invalid_token');
    const basic = await client.request('GET', '/v18.0/me', { headers: { authorization: 'Basic YTpi' } });
    assert.equal(basic.json.code, 'malformed_token');
  });
});

describe('accounts', () => {
  let system: SharedSystem;
  before(async () => {
    system = await sharedSystem();
  });

  it('are managed by the operator alone', async () => {
    const operator = await system.account(OPERATOR_SCOPES);
    const created = await operator.request('POST', '/v18.0/accounts', { body: { name: 'Acme' } });
    assert.equal(created.status, 201);
    const { id, api_key } = created.json;
    const list = await readAll<{ id: string }>(operator, '/v18.0/accounts?limit=100');
    assert.ok(list.some((account) => account.id === id));
    assert.equal((await operator.request('GET', `/v18.0/accounts/${id}`)).json.name, 'Acme');
    const headers = { authorization: `Bearer ${api_key.key}` };
    assert.equal((await operator.request('GET', '/v18.0/me', { headers })).json.name, 'Acme');
    assert.equal((await operator.request('GET', '/v18.0/accounts', { headers })).status, 403);
  });
});
