import assert from 'node:assert/strict';
import { OPERATOR_SCOPES, PLATFORM_SCOPES } from '../../../src/domain/access/api-key.js';
import type { Change } from '../../../src/domain/change/change.js';
import { type Answer, type ApiClient, apiClient, PURCHASE } from '../../support/api-client.js';
import { newestChange } from '../../support/parts/changes.js';
import { runHere } from '../../support/programs/command.js';
import { type SharedSystem, sharedSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

describe('a platform', () => {
  let system: SharedSystem;
  let platform: ApiClient;

  before(async () => {
    system = await sharedSystem(
      { HOOKLINE_MAX_ENDPOINTS: '2', HOOKLINE_PORTAL_LOGO_ORIGINS: 'https://cdn.example.com' },
      'api',
    );
    platform = await system.account(PLATFORM_SCOPES);
  });

  const send = async (method: string, path: string, body?: unknown, account?: string, by = platform) =>
    by.request(method, `/v18.0${path}`, {
      ...(body !== undefined && { body }),
      ...(account !== undefined && { headers: { 'hookline-account': account } }),
    });
  const make = async (body: Record<string, unknown> = {}, by = platform): Promise<Answer['json']> => {
    const answer = await send('POST', '/accounts', { name: 'Acme', ...body }, undefined, by);
    assert.equal(answer.status, 201, answer.text);
    return answer.json;
  };
  const endpoint = { target_url: 'https://example.com/hooks', event_kinds: ['purchase'] };

  it('is made by the operator, and makes its accounts itself', async () => {
    const operator = await system.account(OPERATOR_SCOPES);
    const made = await make({ platform: true }, operator);
    assert.deepEqual(made.api_key.scopes, PLATFORM_SCOPES);
    const key = apiClient(system.url, { accountId: made.id, key: made.api_key.key, keyId: made.api_key.id });
    const account = await make({ reference: 'customer-1' }, key);
    assert.equal(account.platform_id, made.id);
    assert.ok(!('api_key' in account));
    assert.equal((await send('POST', '/accounts', { name: 'x', platform: true })).status, 403);
  });

  it('is made at the command line', async () => {
    const said = await runHere('account', system.environment, ['Shop', '--platform']);
    const [, accountId = '', key = ''] = /^Account (acct_\w+) \(Shop\)\nAPI key (hlk_\S+)$/m.exec(said) ?? [];
    const made = apiClient(system.url, { accountId, key, keyId: '' });
    assert.equal((await make({}, made)).platform_id, accountId);
    await assert.rejects(runHere('account', system.environment, ['Shop', '--platform', '--operator']));
  });

  it('acts for an account that it names by id or reference, and is recorded as who it is', async () => {
    const { id } = await make({ reference: 'customer-2' });
    const first = await send('POST', '/endpoints', endpoint, id);
    assert.equal(first.status, 201, first.text);
    assert.equal(first.json.account_id, id);
    const second = await send('GET', `/endpoints/${first.json.id}`, undefined, 'customer-2');
    assert.equal(second.status, 200, second.text);
    const { data } = (await send('GET', `/changes?resource=endpoint:${first.json.id}`, undefined, id)).json;
    assert.deepEqual(
      data.map(({ actor }: Change) => actor),
      [{ type: 'api_key', id: platform.keyId, account_id: platform.accountId }],
    );
    const session = (await send('GET', '/session', undefined, 'customer-2')).json;
    assert.deepEqual(session.account, { id, name: 'Acme', reference: 'customer-2' });
    assert.equal(session.platform_id, platform.accountId);
    assert.ok(!session.scopes.includes('platform'));
    assert.equal((await send('GET', '/me', undefined, id)).json.name, 'Acme');
  });

  it('reads, changes and deletes an account by its reference in the path, and makes a link to its portal', async () => {
    const { id } = await make({ reference: 'team:a@b.c' });
    const path = '/accounts/team:a@b.c';
    assert.equal((await send('GET', path)).json.id, id);
    const changed = await send('PATCH', path, { name: 'Renamed' });
    assert.deepEqual([changed.json.id, changed.json.name], [id, 'Renamed']);
    const { status, headers } = await send('POST', `${path}/portal_sessions`, {});
    assert.equal(status, 201);
    assert.equal((await send('DELETE', (headers.get('location') ?? '').replace('/v18.0', ''))).status, 204);
    const deleted = await send('DELETE', path);
    assert.deepEqual([deleted.status, deleted.json.id], [202, id]);
    const own = await system.account();
    assert.equal((await send('GET', path, undefined, undefined, own)).status, 404);
  });

  it('must say for which account; its own counts, too', async () => {
    const { status, json } = await send('POST', '/endpoints', endpoint);
    assert.equal(status, 400);
    assert.equal(json.code, 'account_not_named');
    assert.match(json.detail, /Hookline-Account/);
    assert.equal((await send('GET', '/endpoints', undefined, platform.accountId)).status, 200);
    for (const path of ['/accounts', `/accounts/${platform.accountId}`, '/session'])
      assert.equal((await send('GET', path)).status, 200, path);
    for (const wrong of ['no such', 'a/b', `acct_${'x'.repeat(200)}`, '"']) {
      const answer = await send('GET', '/endpoints', undefined, wrong);
      assert.equal(answer.status, 400, wrong);
      assert.equal(answer.json.errors[0].parameter, 'Hookline-Account');
    }
  });

  it('has accounts of its own: another platform’s are not there, by id, by reference or in lists', async () => {
    const other = await system.account(PLATFORM_SCOPES);
    const theirs = await make({ reference: 'shared' }, other);
    const mine = await make({ reference: 'shared' });
    assert.notEqual(mine.id, theirs.id);
    const there = await send('GET', '/session', undefined, 'shared', other);
    assert.equal(there.json.account.id, theirs.id);
    for (const account of [theirs.id, other.accountId, 'acct_00000000000000000000000000', 'nobody']) {
      const answer = await send('GET', '/endpoints', undefined, account);
      assert.equal(answer.status, 404, account);
      assert.equal(answer.json.detail, `There is no account ${account}.`);
    }
    const absent: [string, string, unknown?][] = [
      ['GET', ''],
      ['PATCH', '', { name: 'stolen' }],
      ['POST', '/portal_sessions', {}],
      ['GET', '/portal_sessions'],
    ];
    for (const [method, path, body] of absent)
      assert.equal((await send(method, `/accounts/${theirs.id}${path}`, body)).status, 404, path);
    assert.equal((await send('GET', '/accounts/shared')).json.id, mine.id);
    const list = (await send('GET', '/accounts?limit=100')).json.data;
    assert.ok(list.length > 0);
    assert.ok(list.every(({ platform_id }: { platform_id: string }) => platform_id === platform.accountId));
    const found = (await send('GET', '/accounts?reference=shared')).json.data;
    assert.deepEqual(
      found.map(({ id }: { id: string }) => id),
      [mine.id],
    );
  });

  it('is not what the operator needs to act for an account, with the scopes that its key has', async () => {
    const operator = await system.account(['admin', 'endpoints:read']);
    const { id } = await make();
    assert.equal((await send('GET', '/endpoints', undefined, id, operator)).status, 200);
    assert.equal((await send('POST', '/endpoints', endpoint, id, operator)).status, 403);
    assert.equal((await send('GET', '/session', undefined, id, operator)).json.account.id, id);
    assert.equal((await send('GET', '/accounts', undefined, id, operator)).status, 403);
    assert.equal((await send('GET', '/endpoints', undefined, 'nobody', operator)).status, 404);
    assert.equal((await send('GET', '/endpoints', undefined, undefined, operator)).status, 200);
  });

  it('gives an account no power over others: a key made for one acts for it alone', async () => {
    const { id } = await make();
    const forPlatform = { name: 'x', scopes: ['platform'] };
    assert.equal((await send('POST', '/api_keys', forPlatform, id)).status, 403);
    const made = await send('POST', '/api_keys', { name: 'own', scopes: ['keys:read'] }, id);
    const own = apiClient(system.url, { accountId: id, key: made.json.key, keyId: made.json.id });
    assert.equal((await send('GET', `/accounts/${id}`, undefined, undefined, own)).status, 200);
    assert.equal((await send('GET', '/api_keys', undefined, id, own)).status, 200);
    const elsewhere = await make();
    for (const account of [elsewhere.id, platform.accountId, 'customer-2']) {
      const answer = await send('GET', '/api_keys', undefined, account, own);
      assert.equal(answer.status, 403, account);
    }
    assert.equal((await send('GET', `/accounts/${elsewhere.id}`, undefined, undefined, own)).status, 404);
  });

  it('has keys that only act for accounts, and do not manage them', async () => {
    const { id } = await make();
    const narrow = await send(
      'POST',
      '/api_keys',
      { name: 'poster', scopes: ['platform', 'events:write'] },
      platform.accountId,
    );
    const poster = apiClient(system.url, {
      accountId: platform.accountId,
      key: narrow.json.key,
      keyId: narrow.json.id,
    });
    const accepted = await poster.request('POST', '/v18.0/events/purchase', {
      raw: PURCHASE,
      headers: { 'hookline-account': id },
    });
    assert.equal(accepted.status, 202, accepted.text);
    assert.equal((await send('GET', '/endpoints', undefined, id, poster)).status, 403);
    assert.equal((await send('POST', '/accounts', { name: 'x' }, undefined, poster)).status, 403);
    assert.equal((await send('PATCH', `/accounts/${id}`, { name: 'x' }, undefined, poster)).status, 403);
    const link = `/accounts/${id}/portal_sessions`;
    assert.equal((await send('POST', link, {}, undefined, poster)).status, 403);
  });

  it('changes an account in the version that it has read', async () => {
    const { id } = await make({ reference: 'before', limits: { max_endpoints: 1 } });
    const read = await send('GET', `/accounts/${id}`);
    const ifMatch = (etag: string) => ({ 'if-match': etag });
    const etag = read.headers.get('etag') ?? '';
    const patch = (body: unknown, headers: Record<string, string> = {}) =>
      platform.request('PATCH', `/v18.0/accounts/${id}`, { body, headers });
    const changed = await patch({ reference: 'after', limits: { events_per_minute: 7 } }, ifMatch(etag));
    assert.equal(changed.status, 200, changed.text);
    assert.deepEqual(changed.json.limits, { max_endpoints: 1, events_per_minute: 7 });
    assert.equal(changed.json.version, 2);
    assert.notEqual(changed.headers.get('etag'), etag);
    assert.equal((await patch({ name: 'late' }, ifMatch(etag))).status, 412);
    const rest = await patch({ reference: null, limits: { max_endpoints: null, events_per_minute: null } });
    assert.deepEqual([rest.json.reference, rest.json.limits], [undefined, {}]);
    const own = { ...platform, request: withAccount(platform, id) };
    const change = await newestChange(own, `account:${id}`);
    assert.deepEqual(
      change.changed.filter((pointer) => !pointer.startsWith('/limits')),
      ['/reference'],
    );
    assert.deepEqual(change.actor.account_id, platform.accountId);
    assert.equal((await send('GET', '/endpoints', undefined, 'before')).status, 404);
    assert.equal((await send('PATCH', `/accounts/${platform.accountId}`, { name: 'x' })).status, 403);
  });

  it('gives each reference once', async () => {
    await make({ reference: 'once' });
    const again = await send('POST', '/accounts', { name: 'Twin', reference: 'once' });
    assert.equal(again.status, 409);
    assert.equal(again.json.code, 'account_reference_taken');
    const { id } = await make();
    const taken = await send('PATCH', `/accounts/${id}`, { reference: 'once' });
    assert.equal(taken.json.code, 'account_reference_taken');
    const both = await Promise.all(
      [1, 2, 3].map(() => send('POST', '/accounts', { name: 'x', reference: 'race' })),
    );
    assert.deepEqual(both.map(({ status }) => status).sort(), [201, 409, 409]);
    const twice = await Promise.all(
      [1, 2].map(() => send('PATCH', `/accounts/${id}`, { reference: 'twice' })),
    );
    assert.ok(twice.some(({ status }) => status === 200));
    assert.equal((await send('POST', '/accounts', { name: 'Twin', reference: 'twice' })).status, 409);
    for (const reference of ['', 'acct_1', 'a b', 'x'.repeat(129)])
      assert.equal((await send('POST', '/accounts', { name: 'x', reference })).status, 400, reference);
  });

  it('sets the limits of its accounts, which take effect within moments', async () => {
    const { id } = await make({ limits: { max_endpoints: 3, requests_per_minute: 5_000 } });
    for (let n = 0; n < 3; n++) assert.equal((await send('POST', '/endpoints', endpoint, id)).status, 201);
    assert.equal((await send('POST', '/endpoints', endpoint, id)).json.code, 'endpoint_limit_reached');
    const list = await send('GET', '/endpoints', undefined, id);
    assert.equal(list.headers.get('ratelimit-policy'), '"token-1m";q=5000;w=60');
    const lower = { limits: { events_per_minute: 3, max_endpoints: null } };
    const lowered = await send('PATCH', `/accounts/${id}`, lower);
    assert.equal(lowered.status, 200, lowered.text);
    // Counted, and accepted by nobody.
    const post = () => send('POST', '/events/purchase', {}, id);
    const refused = await until(post, ({ status }) => status === 429);
    assert.equal(refused.headers.get('ratelimit-policy'), '"account-1m";q=3;w=60');
    await send('PATCH', `/accounts/${id}`, { limits: { events_per_minute: 1_000 } });
    await until(post, ({ status }) => status === 400);
    assert.match((await send('POST', '/endpoints', endpoint, id)).json.detail, /has 2 endpoints/);
  });

  it('gives the portals of its accounts a look, which nobody else changes', async () => {
    const portal = { name: 'Acme Events', logo_url: 'https://cdn.example.com/logo.svg', color: '#0a7f5a' };
    const account = await make({ portal });
    assert.deepEqual(account.portal, portal);
    const link = await send('POST', `/accounts/${account.id}/portal_sessions`, {});
    assert.equal(link.status, 201, link.text);
    const subscriber = apiClient(system.url, {
      accountId: account.id,
      key: link.json.token,
      keyId: link.json.id,
    });
    const lookOf = async () =>
      (await send('GET', '/session', undefined, undefined, subscriber)).json.account.portal;
    assert.deepEqual(await lookOf(), portal);

    const path = `/accounts/${account.id}`;
    const refused: [body: object, detail: RegExp][] = [
      [{ logo_url: 'https://other.example.com/logo.svg' }, /must be at one of: https:\/\/cdn\.example\.com/],
      [{ logo_url: "https://cdn.example.com;script-src'self'/x" }, /must be an https URL/],
      [{ color: 'red' }, /must be a colour/],
      [{ name: 'a\nb' }, /must be a line/],
      [{ css: 'body{}' }, /css/],
    ];
    for (const [look, detail] of refused) {
      const answer = await send('PATCH', path, { portal: look });
      assert.equal(answer.status, 400, answer.text);
      assert.match(answer.text, detail);
    }
    const own = await send('PATCH', path, { portal: { name: 'Mine' } }, undefined, subscriber);
    assert.equal(own.status, 403, own.text);
    const stranger = await system.account(PLATFORM_SCOPES);
    assert.equal(
      (await send('PATCH', path, { portal: { name: 'Theirs' } }, undefined, stranger)).status,
      404,
    );

    const changed = await send('PATCH', path, { portal: { name: null, color: '#112233' } });
    assert.deepEqual(changed.json.portal, { logo_url: portal.logo_url, color: '#112233' });
    await until(lookOf, (look) => look?.name === undefined && look?.color === '#112233');
    await send('PATCH', path, { portal: { logo_url: null, color: null } });
    await until(lookOf, (look) => look === undefined);
  });
});

/** Sends a client's requests for an account. */
function withAccount(client: ApiClient, account: string): ApiClient['request'] {
  return (method, path, options = {}) =>
    client.request(method, path, {
      ...options,
      headers: { ...options.headers, 'hookline-account': account },
    });
}
