import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { pino } from 'pino';
import { OPERATOR_SCOPES } from '../../../src/domain/access/api-key.js';
import { newId } from '../../../src/domain/basics/ids.js';
import { OPERATOR } from '../../../src/domain/change/change.js';
import { type ApiClient, apiClient } from '../../support/api-client.js';
import { type IdentityProvider, startIdentityProvider } from '../../support/outside/openid-provider.js';
import { newestChange } from '../../support/parts/changes.js';
import { sharedSystem, startSystem, type TestSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

const PUBLIC_URL = 'https://hooks.example.com';

describe('single sign-on to the desk', () => {
  let provider: IdentityProvider;
  let system: TestSystem;
  let shop: ApiClient;
  const account = newId('account');
  const log: string[] = [];

  before(async () => {
    provider = await startIdentityProvider();
    system = await startSystem(
      { ...provider.settings, HOOKLINE_OIDC_ACCOUNT: account, HOOKLINE_PUBLIC_URL: PUBLIC_URL },
      'api',
      pino({ level: 'trace' }, { write: (line: string) => log.push(line) }),
    );
    await system.database.accounts.create('Operations', OPERATOR, { id: account });
    shop = await system.account();
  });
  after(async () => {
    await system?.stop();
    await provider?.close();
  });

  const post = async (path: string, body: object = {}, { url }: { url: string } = system) => {
    const response = await fetch(url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return {
      status: response.status,
      headers: response.headers,
      json: (await response.json()) as Record<string, string>,
    };
  };
  const begin = async () => {
    const { status, json } = await post('/sign_in/openid');
    assert.equal(status, 200, JSON.stringify(json));
    return json as { url: string; sign_in: string };
  };
  const finish = (sign_in: string, response: URLSearchParams) =>
    post('/sign_in/openid/response', { sign_in, response: String(response) });
  /** A client with the token of a person who has signed in. */
  const signIn = async (person: string) => {
    provider.person = person;
    const { url, sign_in } = await begin();
    const { status, json, headers } = await finish(sign_in, await provider.visit(url));
    assert.equal(status, 200, JSON.stringify(json));
    assert.equal(headers.get('cache-control'), 'no-store');
    return apiClient(system.url, { accountId: account, key: json['token'] ?? '', keyId: '' });
  };

  it('lets a person with a role that may act do what the operator may, recorded under their subject', async () => {
    const ada = await signIn('u-ada');
    const { json } = await ada.request('GET', '/v18.0/session');
    assert.equal(json.type, 'desk_session');
    assert.equal(json.name, 'Ada Lovelace');
    assert.deepEqual(json.person, { subject: 'u-ada', role: 'act' });
    assert.ok(Date.parse(json.expires_at) - Date.now() > 7.9 * 3_600_000);
    const named = await ada.request('POST', '/v18.0/accounts', { body: { name: 'Acme' } });
    assert.equal(named.status, 201, named.text);
    const body = { limits: { max_endpoints: 7 } };
    assert.equal((await ada.request('PATCH', `/v18.0/accounts/${shop.accountId}`, { body })).status, 200);
    const { actor, address } = await newestChange(shop, `account:${shop.accountId}`);
    // Whose person it is, is nobody's business but the operator's.
    assert.deepEqual(actor, { type: 'person', id: 'u-ada', account_id: account });
    assert.equal(address, '127.0.0.1');
    const all = await ada.request('GET', '/v18.0/installation/changes?actor=u-ada');
    assert.equal(all.json.data[0].actor.name, 'Ada Lovelace');
    const session = all.json.data.find(
      ({ action, resource }: { action: string; resource: string }) =>
        action === 'created' && resource === `desk_session:${json.id}`,
    );
    assert.equal(session.after.issuer, provider.issuer);
  });

  it('lets a reader see all accounts, and refuses each operation that changes something', async () => {
    const grace = await signIn('u-grace');
    assert.equal((await grace.request('GET', '/v18.0/accounts')).status, 200);
    assert.equal((await grace.request('GET', '/v18.0/installation/deliveries')).status, 200);
    const of = { headers: { 'hookline-account': shop.accountId } };
    assert.equal((await grace.request('GET', '/v18.0/endpoints', of)).status, 200);
    const search = await grace.request('POST', '/v18.0/installation/search', { body: { query: 'test' } });
    assert.equal(search.status, 200, search.text);
    const reads = await grace.request('POST', '/v18.0/batch', { body: { reads: ['/v18.0/session'] } });
    assert.equal(reads.json.responses[0].status, 200, reads.text);

    const { paths } = JSON.parse(readFileSync('docs/openapi.json', 'utf8'));
    const writes = Object.entries<object>(paths).flatMap(([path, methods]) =>
      Object.keys(methods)
        .filter((method) => ['post', 'put', 'patch', 'delete'].includes(method))
        .map((method) => [method.toUpperCase(), path.replace(/\{\w+\}/g, 'x')] as const),
    );
    const open = new Set([
      'POST /v18.0/batch',
      'POST /v18.0/installation/search',
      'POST /v18.0/what_if',
      'DELETE /v18.0/session',
    ]);
    const closed = writes.filter((write) => !open.has(write.join(' ')));
    assert.ok(closed.length > 40, String(closed.length));
    for (const [method, path] of closed) {
      const answer = await grace.request(method, path);
      assert.equal(answer.json?.code, 'read_only', `${method} ${path}: ${answer.text}`);
      assert.match(answer.json.detail, /may only read/);
    }
    assert.equal((await grace.request('GET', '/v18.0/endpoints/x/secret', of)).json.code, 'missing_scope');
  });

  it('ends when the person signs out, or with its limit', async () => {
    const grace = await signIn('u-grace');
    // Also while she looks at another account.
    const of = { headers: { 'hookline-account': shop.accountId } };
    assert.equal((await grace.request('DELETE', '/v18.0/session', of)).status, 204);
    const { json } = await shop.request('GET', '/v18.0/changes?actor=u-grace');
    assert.deepEqual(json.data, [], 'it is the operator’s account that a session belongs to');
    const over = { account_id: account, issuer: 'i', subject: 's', name: 'n', role: 'act' } as const;
    const { token } = await system.database.deskSessions.create(
      { ...over, expires_at: new Date(Date.now() - 60_000) },
      OPERATOR,
    );
    const ended = apiClient(system.url, { accountId: account, key: token, keyId: '' });
    assert.equal((await ended.request('GET', '/v18.0/session')).json.code, 'expired_token');
    assert.equal((await grace.request('GET', '/v18.0/session')).json.code, 'revoked_token');
  });

  it('is ended by an operator, who sees whoever is signed in', async () => {
    const grace = await signIn('u-grace');
    const ada = await signIn('u-ada');
    const path = '/v18.0/installation/desk_sessions';
    const { json } = await ada.request('GET', `${path}?limit=2`);
    const [own, other] = json.data;
    assert.deepEqual([own.subject, other.subject, other.role], ['u-ada', 'u-grace', 'read']);
    assert.equal((await grace.request('DELETE', `${path}/${own.id}`)).json.code, 'read_only');
    assert.equal((await shop.request('GET', path)).json.code, 'missing_scope');
    assert.equal((await shop.request('DELETE', `${path}/${own.id}`)).json.code, 'missing_scope');
    assert.equal((await ada.request('DELETE', `${path}/${other.id}`)).status, 204);
    assert.equal((await grace.request('GET', '/v18.0/session')).json.code, 'revoked_token');
    const left = await ada.request('GET', path);
    assert.ok(!left.json.data.some(({ id }: { id: string }) => id === other.id));
    assert.equal((await ada.request('DELETE', `${path}/ds_unknown`)).status, 404);
  });

  it('ends with the keys and links that were made in it, also by those keys', async () => {
    const codes = async (tokens: string[]) =>
      Promise.all(
        tokens.map(async (key) => {
          const holder = apiClient(system.url, { accountId: '', key, keyId: '' });
          const { status, json } = await holder.request('GET', '/v18.0/session');
          return status === 200 ? 'live' : json.code;
        }),
      );
    const operator = await system.account(OPERATOR_SCOPES);
    const ways: ((ada: ApiClient, session: string) => Promise<{ status: number }>)[] = [
      (ada) => ada.request('DELETE', '/v18.0/session'),
      (_, session) => operator.request('DELETE', `/v18.0/installation/desk_sessions/${session}`),
    ];
    for (const end of ways) {
      const ada = await signIn('u-ada');
      const { id, expires_at } = (await ada.request('GET', '/v18.0/session')).json;
      const of = { headers: { 'hookline-account': shop.accountId } };
      const body = { name: 'made', scopes: ['keys:write', 'profile:read'] };
      const key = await ada.request('POST', '/v18.0/api_keys', { body, ...of });
      assert.equal(key.json.desk_session_id, id, key.text);
      const holder = apiClient(system.url, { accountId: '', key: key.json.key, keyId: '' });
      const child = await holder.request('POST', '/v18.0/api_keys', { body });
      const link = await ada.request('POST', `/v18.0/accounts/${shop.accountId}/portal_sessions`);
      const account = await ada.request('POST', '/v18.0/accounts', { body: { name: 'A', platform: true } });
      const first = account.json.api_key;
      assert.equal(first.expires_at, expires_at, 'the first key of an account ends with its maker');
      const tokens = [key.json.key, child.json.key, link.json.token, first.key];
      assert.deepEqual(
        await codes(tokens),
        tokens.map(() => 'live'),
      );
      assert.equal((await end(ada, id)).status, 204);
      assert.deepEqual(
        await codes(tokens),
        tokens.map(() => 'revoked_token'),
      );
    }
  });

  it('is refused once the settings name another provider or account, or none', async () => {
    const plain = await sharedSystem({}, 'api');
    const { accountId: another } = await system.account();
    const places: [Pick<TestSystem, 'database' | 'url'>, string, string][] = [
      [system, 'https://login.example.com', account],
      [system, provider.issuer, another],
      [plain, provider.issuer, (await plain.account()).accountId],
    ];
    for (const [{ database, url }, issuer, account_id] of places) {
      const session = { account_id, issuer, subject: 's', name: 'n', role: 'act' } as const;
      const expires_at = new Date(Date.now() + 60_000);
      const { token } = await database.deskSessions.create({ ...session, expires_at }, OPERATOR);
      const left = apiClient(url, { accountId: account_id, key: token, keyId: '' });
      const { json } = await left.request('GET', '/v18.0/session');
      assert.equal(json.code, 'revoked_token');
      assert.match(json.detail, /not set any more/);
    }
  });

  it('names the person whom a subject was when a change was made', async () => {
    const subject = 'u-moved';
    const origin = { actor: { type: 'person', id: subject } } as const;
    for (const [issuer, name] of [
      ['https://before.example.com', 'Somebody before'],
      [provider.issuer, 'Somebody now'],
    ] as const) {
      const expires_at = new Date(Date.now() + 60_000);
      const person = { account_id: account, issuer, subject, name, role: 'read' } as const;
      const { session } = await system.database.deskSessions.create({ ...person, expires_at }, origin);
      await until(Date.now, (now) => now > Date.parse(session.created_at));
      await system.database.deskSessions.revoke(account, session.id, origin);
    }
    const ada = await signIn('u-ada');
    const { json } = await ada.request('GET', `/v18.0/installation/changes?actor=${subject}`);
    const names = json.data.map(({ actor }: { actor: { name: string } }) => actor.name);
    assert.deepEqual(names, ['Somebody now', 'Somebody now', 'Somebody before', 'Somebody before']);
  });

  it('refuses whoever has no role', async () => {
    provider.person = 'u-mallory';
    const { url, sign_in } = await begin();
    const { status, json } = await finish(sign_in, await provider.visit(url));
    assert.equal(status, 403);
    assert.match(String(json['detail']), /You have no role/);
  });

  it('is completed once, by the tab that began it, with what the provider responds to it', async () => {
    provider.person = 'u-ada';
    const [mine, other] = [await begin(), await begin()];
    const redirect = new URL(mine.url).searchParams.get('redirect_uri');
    assert.equal(redirect, `${PUBLIC_URL}/desk/signed-in`);
    const [first, second, foreign] = [
      await provider.visit(mine.url),
      await provider.visit(mine.url),
      await provider.visit(other.url),
    ];
    // A code of another sign-in, as if it had been put into this one's address.
    foreign.set('state', String(first.get('state')));
    const third = await begin();
    const refusals: [string, URLSearchParams][] = [
      [third.sign_in, first],
      [other.sign_in, foreign],
      [mine.sign_in.replace(/.(?=.{40}$)/, (one) => (one === 'A' ? 'B' : 'A')), first],
    ];
    for (const [sign_in, response] of refusals) {
      const { status, json } = await finish(sign_in, response);
      assert.equal(status, 403, JSON.stringify(json));
      assert.equal(json['code'], 'sign_in_refused');
    }
    const [once, again] = [await finish(mine.sign_in, first), await finish(mine.sign_in, second)];
    assert.equal(once.status, 200, JSON.stringify(once.json));
    assert.equal(again.status, 403);
    assert.match(String(again.json['detail']), /completed before/);
    const refused = await begin();
    const denied = new URLSearchParams({
      error: 'access_denied',
      state: String(new URL(refused.url).searchParams.get('state')),
      iss: provider.issuer,
    });
    assert.equal((await finish(refused.sign_in, denied)).status, 403);
  });

  it('writes no secret into the log', async () => {
    const { url, sign_in } = await begin();
    const response = await provider.visit(url);
    const { json } = await finish(sign_in, response);
    await finish(sign_in, response);
    const text = log.join('');
    assert.match(text, /sign_in\/openid\/response/);
    for (const secret of [provider.secret, sign_in, String(json['token']), ...response.values()])
      if (secret !== provider.issuer) assert.ok(!text.includes(secret), secret);
  });

  it('is not there where no provider is set', async () => {
    const plain = await sharedSystem({}, 'api');
    assert.equal((await post('/sign_in/openid', {}, plain)).status, 404);
  });
});
