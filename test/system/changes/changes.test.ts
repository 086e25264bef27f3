import assert from 'node:assert/strict';
import mongoose from 'mongoose';
import { SCOPES } from '../../../src/domain/access/api-key.js';
import type { Change } from '../../../src/domain/change/change.js';
import { type Answer, type ApiClient, PURCHASE } from '../../support/api-client.js';
import { type Receiver, reply, startReceiver } from '../../support/receiver.js';
import { startSystem, type TestSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

const ADDRESS = '203.0.113.7';
/** As a proxy in front of the API says it. The caller can write what it likes before that. */
const FORWARDED = { 'x-forwarded-for': `198.51.100.1, ${ADDRESS}` };

describe('changes', () => {
  let system: TestSystem;
  let receiver: Receiver;
  let client: ApiClient;

  before(async () => {
    system = await startSystem({ HOOKLINE_PROXY_HOPS: '1' });
    receiver = await startReceiver();
  });
  beforeEach(async () => {
    client = await system.account(SCOPES);
  });
  after(async () => {
    await receiver.close();
    await system.stop();
  });

  const send = async (method: string, path: string, body?: unknown): Promise<Answer> => {
    const answer = await client.request(method, `/v18.0${path}`, {
      headers: FORWARDED,
      ...(body !== undefined && { body }),
    });
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.text}`);
    return answer;
  };
  const changesOf = async (resource: string): Promise<Change[]> =>
    (await send('GET', `/changes?resource=${resource}`)).json.data;
  const actions = async (resource: string) =>
    (await changesOf(resource)).map(({ action }) => action).reverse();
  const newest = async (resource: string): Promise<Change> => {
    const [change] = await changesOf(resource);
    assert.ok(change);
    return change;
  };

  it('of an endpoint say who, from where, by which request, what it was and what it became', async () => {
    const { id } = await client.register(receiver.url, { description: 'first' });
    const { headers } = await send('PATCH', `/endpoints/${id}`, {
      description: 'second',
      metadata: { team: 'a' },
    });
    const change = await newest(`endpoint:${id}`);
    assert.deepEqual(
      {
        ...change,
        id: '',
        at: '',
        before: change.before?.['description'],
        after: change.after?.['description'],
      },
      {
        id: '',
        at: '',
        resource: `endpoint:${id}`,
        version: 2,
        action: 'updated',
        actor: { type: 'api_key', id: client.keyId },
        address: ADDRESS,
        request_id: headers.get('x-request-id'),
        changed: ['/description', '/metadata/team'],
        before: 'first',
        after: 'second',
      },
    );
    const shown = (await send('GET', `/endpoints/${id}`)).json;
    assert.deepEqual(change.after, shown);
    assert.equal(shown.version, 2);
    assert.equal(change.at, shown.updated_at);
  });

  it('of an endpoint are its versions, one for each act', async () => {
    const { id } = await client.register(receiver.url);
    await send('PUT', `/endpoints/${id}`, { target_url: receiver.url, event_kinds: ['*'] });
    await send('POST', `/endpoints/${id}/pause`);
    await send('POST', `/endpoints/${id}/resume`);
    await send('POST', `/endpoints/${id}/secret/rotate`, { overlap: '1h' });
    await send('DELETE', `/endpoints/${id}/secret/previous`);
    await send('DELETE', `/endpoints/${id}`);
    const versions: Change[] = (await send('GET', `/endpoints/${id}/versions`)).json.data;
    assert.deepEqual(
      versions.map(({ version, action }) => [version, action]),
      [
        [7, 'deleted'],
        [6, 'secret_retired'],
        [5, 'secret_rotated'],
        [4, 'resumed'],
        [3, 'paused'],
        [2, 'updated'],
        [1, 'created'],
      ],
    );
    assert.deepEqual(versions, await changesOf(`endpoint:${id}`));
    for (const [index, { before }] of versions.entries())
      assert.deepEqual(before, versions[index + 1]?.after);
    assert.equal(versions[0]?.after, undefined);
    assert.deepEqual(versions[2]?.changed, ['/secret']);
  });

  it('of every other kind of resource are recorded, each act', async () => {
    const { id: profile } = (await send('POST', '/profiles', { username: 'ada', name: 'A' })).json;
    await send('PUT', `/profiles/${profile}`, { username: 'ada', name: 'Ada' });
    const login = { login_name: 'ada', password: 'correct horse battery' };
    await send('PUT', `/profiles/${profile}/login`, login);
    await send('PUT', `/profiles/${profile}/login`, { ...login, password: 'another horse battery' });
    assert.deepEqual((await newest(`login:${profile}`)).changed, ['/password']);
    await send('PUT', `/profiles/${profile}/login`, { ...login, login_name: 'ada2' });
    await send('DELETE', `/profiles/${profile}`);
    assert.deepEqual(await actions(`profile:${profile}`), ['created', 'updated', 'deleted']);
    assert.deepEqual(await actions(`login:${profile}`), [
      'created',
      'updated',
      'deleted',
      'created',
      'deleted',
    ]);

    const key = (await send('POST', '/api_keys', { name: 'one', scopes: ['profile:read'] })).json;
    await send('DELETE', `/api_keys/${key.id}`);
    assert.deepEqual(await actions(`api_key:${key.id}`), ['created', 'revoked']);

    const registration = { name: 'app', scopes: ['profile:read'] };
    const app = (await send('POST', '/oauth_clients', registration)).json;
    await send('PUT', `/oauth_clients/${app.id}`, { ...registration, name: 'application' });
    await send('POST', `/oauth_clients/${app.id}/secret/rotate`, {});
    assert.deepEqual((await newest(`oauth_client:${app.id}`)).changed, ['/secret']);
    await send('DELETE', `/oauth_clients/${app.id}`);
    assert.deepEqual(await actions(`oauth_client:${app.id}`), [
      'created',
      'updated',
      'secret_rotated',
      'deleted',
    ]);

    await send('POST', '/event_kinds', { name: 'order.shipped', schema: {} });
    await send('PUT', '/event_kinds/order.shipped', { schema: { type: 'object', $comment: 'next' } });
    assert.deepEqual((await newest('event_kind:order.shipped')).changed, [
      '/schema_version',
      '/schema/type',
      '/schema/$comment',
    ]);
    await send('DELETE', '/event_kinds/order.shipped');
    await send('POST', '/event_kinds', { name: 'order.shipped', schema: {} });
    assert.deepEqual(await actions('event_kind:order.shipped'), ['created', 'updated', 'deleted', 'created']);
  });

  it('of an account say who made it, with its first key', async () => {
    const account = (await send('POST', '/accounts', { name: 'tenant' })).json;
    const rows = await system.database.changes.list(account.id, {}, 10);
    assert.deepEqual(
      rows.map(({ resource, action, actor }) => [resource, action, actor.id]),
      [
        [`api_key:${account.api_key.id}`, 'created', client.keyId],
        [`account:${account.id}`, 'created', client.keyId],
        [`profile:${account.id.replace('acct', 'prof')}`, 'created', client.keyId],
      ],
    );
    const own = await newest(`account:${client.accountId}`);
    assert.deepEqual(own.actor, { type: 'operator', id: 'operator' });
  });

  it('that the system makes name its part', async () => {
    receiver.handle(reply(410));
    const { id } = await client.register(receiver.url);
    await client.purchase();
    const gone = await until(
      () => newest(`endpoint:${id}`),
      ({ action }) => action === 'disabled',
    );
    assert.deepEqual(gone.actor, { type: 'subscriber', id: 'subscriber' });
    assert.equal(gone.after?.['status_reason'], 'It answered 410 Gone.');

    receiver.handle(reply(200));
    const rotated = await client.register(receiver.url);
    await send('POST', `/endpoints/${rotated.id}/secret/rotate`, { overlap: '1s' });
    const retired = await until(
      () => newest(`endpoint:${rotated.id}`),
      ({ action }) => action === 'secret_retired',
    );
    assert.deepEqual(retired.actor, { type: 'system', id: 'rotation' });
  });

  it('that an incident makes are the system’s', async () => {
    const waits = Array(40).fill('100ms').join(',');
    const settings = { HOOKLINE_RETRY_SCHEDULE: waits, HOOKLINE_PROBE_INTERVAL: '60ms' };
    const impatient = await startSystem({ ...settings, HOOKLINE_DISABLE_AFTER: '1500ms' });
    try {
      client = await impatient.account();
      receiver.handle(reply(500));
      const { id } = await client.register(receiver.url);
      await client.purchase();
      const change = await until(
        () => newest(`endpoint:${id}`),
        ({ action }) => action === 'disabled',
      );
      assert.deepEqual(change.actor, { type: 'system', id: 'incident' });
      assert.deepEqual(change.changed, ['/status', '/status_changed_at', '/status_reason']);
    } finally {
      await impatient.stop();
    }
  });

  it('that a subscriber makes by confirming say from where', async () => {
    const settings = { HOOKLINE_ENDPOINT_VERIFICATION: 'required', HOOKLINE_PROXY_HOPS: '1' };
    const verifying = await startSystem({ ...settings, HOOKLINE_PUBLIC_URL: 'https://hooks.example.com' });
    const subscriber = await startReceiver();
    try {
      client = await verifying.account();
      subscriber.handle(reply(500));
      const { id } = await client.register(subscriber.url);
      const [asked] = await subscriber.waitFor((all) => all.length >= 1);
      const { confirmation_url } = JSON.parse(String(asked?.body));
      const failed = await until(
        () => newest(`endpoint:${id}`),
        ({ action }) => action === 'verification_failed',
      );
      assert.deepEqual(failed.actor, { type: 'system', id: 'verification' });
      const { pathname, search } = new URL(confirmation_url);
      const confirmed = await fetch(verifying.url + pathname + search, { headers: FORWARDED });
      assert.equal(confirmed.status, 202);
      const change = await until(
        () => newest(`endpoint:${id}`),
        ({ action }) => action === 'verified',
      );
      assert.deepEqual(change.actor, { type: 'subscriber', id: 'subscriber' });
      assert.equal(change.address, ADDRESS);
      assert.equal(change.request_id, confirmed.headers.get('x-request-id'));
      assert.equal(change.after?.['status'], 'active');
    } finally {
      await subscriber.close();
      await verifying.stop();
    }
  });

  it('answer what an endpoint was at a time, also after it was deleted', async () => {
    const asOf = (id: string, time: string) =>
      client.request('GET', `/v18.0/endpoints/${id}?as_of=${encodeURIComponent(time)}`);
    const { id } = await client.register(receiver.url, { description: 'first' });
    const first = (await send('GET', `/endpoints/${id}`)).json;
    await send('PATCH', `/endpoints/${id}`, { description: 'second' });
    const second = (await send('GET', `/endpoints/${id}`)).json;
    await send('DELETE', `/endpoints/${id}`);
    const { at: deletedAt } = await newest(`endpoint:${id}`);
    const justBefore = (time: string) => new Date(Date.parse(time) - 1).toISOString();

    for (const [time, expected] of [
      [first.created_at, first],
      [justBefore(second.updated_at), first],
      [second.updated_at, second],
      [justBefore(deletedAt), second],
    ]) {
      const answer = await asOf(id, time);
      assert.equal(answer.status, 200, answer.text);
      assert.deepEqual(answer.json, expected);
    }
    for (const time of [justBefore(first.created_at), deletedAt, new Date().toISOString()]) {
      const answer = await asOf(id, time);
      assert.equal(answer.status, 404);
      assert.match(answer.json.detail, /^The endpoint ep_\w+ did not exist at 2/);
    }
    const stranger = await system.account();
    for (const path of ['versions', `?as_of=${second.updated_at}`]) {
      const answer = await stranger.request(
        'GET',
        `/v18.0/endpoints/${id}${path.startsWith('?') ? '' : '/'}${path}`,
      );
      assert.equal(answer.status, 404);
      assert.equal(answer.json.detail, `There is no endpoint ${id}.`);
    }
    assert.equal((await asOf(id, 'yesterday')).status, 400);
  });

  it('that are not kept any more leave the time before them unknown, and not wrong', async () => {
    const mongo = await mongoose.createConnection(system.environment['MONGODB_URI'] ?? '').asPromise();
    try {
      const { id } = await client.register(receiver.url, { description: 'first' });
      const created = await newest(`endpoint:${id}`);
      await send('PATCH', `/endpoints/${id}`, { description: 'second' });
      const { at } = await newest(`endpoint:${id}`);
      const read = (time: string) => client.request('GET', `/v18.0/endpoints/${id}?as_of=${time}`);
      const earlier = new Date(Date.parse(created.at) - 1).toISOString();
      const changes = mongo.collection<{ _id: string; resource: string }>('changes');

      await changes.deleteOne({ _id: created.id });
      assert.equal((await read(created.at)).json.description, 'first', 'the next change says so');
      assert.match(
        (await read(earlier)).json.detail,
        /^What the endpoint \w+ was before \S+ is not kept any more/,
      );
      await changes.deleteMany({ resource: `endpoint:${id}` });
      assert.equal((await read(at)).json.description, 'second', 'it has not changed since');
      assert.equal((await read(created.at)).status, 404);
    } finally {
      await mongo.close();
    }
  });

  it('are what people do to deliveries, with their reason; what was refused is not among them', async () => {
    receiver.handle(reply(500));
    await client.register(receiver.url, { retry_schedule: ['1h'] });
    const { deliveries } = await client.purchase(PURCHASE);
    const id = deliveries[0]?.id ?? '';
    await client.deliveryUntil(id, ({ status }) => status === 'retrying');
    await send('POST', `/deliveries/${id}/pause`, { reason: 'the shop is closed' });
    await send('POST', `/deliveries/${id}/resume`);
    await send('POST', `/deliveries/${id}/cancel`);
    for (const act of ['retry', 'pause', 'cancel']) {
      const refused = await client.request('POST', `/v18.0/deliveries/${id}/${act}`);
      assert.equal(refused.status, 409, refused.text);
    }
    await send('POST', `/deliveries/${id}/resend`, { reason: 'it is open again' });
    await client.deliveryUntil(id, ({ status }) => status === 'retrying');
    await send('POST', `/deliveries/${id}/retry`);
    const all = await changesOf(`delivery:${id}`);
    assert.deepEqual(
      all.map(({ action, reason, actor }) => [action, reason, actor.id]),
      [
        ['retried', undefined, client.keyId],
        ['resent', 'it is open again', client.keyId],
        ['cancelled', undefined, client.keyId],
        ['resumed', undefined, client.keyId],
        ['paused', 'the shop is closed', client.keyId],
      ],
    );
  });

  it('show no secret, and say which was changed', async () => {
    const token = 'hub-verify-token';
    const first = { 'x-token': 'first-header-value', 'x-other': 'other-header-value' };
    const { id, secret } = await client.register(receiver.url, { headers: first, verify_token: token });
    await send('PATCH', `/endpoints/${id}`, {
      headers: { 'x-token': 'second-header-value', 'x-new': 'new-value' },
    });
    assert.deepEqual((await newest(`endpoint:${id}`)).changed, ['/headers/x-new', '/headers/x-token']);
    await send('PATCH', `/endpoints/${id}`, { verify_token: 'next-verify-token', description: 'd' });
    assert.deepEqual((await newest(`endpoint:${id}`)).changed, ['/description', '/verify_token']);
    const { secret: rotated } = (await send('POST', `/endpoints/${id}/secret/rotate`, {})).json;
    const key = (await send('POST', '/api_keys', { name: 'one', scopes: ['profile:read'] })).json;
    const app = (await send('POST', '/oauth_clients', { name: 'app', scopes: ['profile:read'] })).json;
    const { id: profile } = (await send('POST', '/profiles', { username: 'ada', name: 'A' })).json;
    await send('PUT', `/profiles/${profile}/login`, { login_name: 'ada', password: 'correct horse battery' });
    const { text } = await send('GET', '/changes?limit=100');
    const secrets = [...Object.values(first), 'second-header-value', 'new-value', token, 'next-verify-token'];
    for (const value of [...secrets, secret, rotated, key.key, app.secret, 'correct horse battery']) {
      assert.ok(!text.includes(value), value);
    }
    assert.doesNotMatch(text, /hash|sealed|\$scrypt|whsec_/);
  });

  it('are paged newest first, each once while others are made, and filtered', async () => {
    const { id } = await client.register(receiver.url);
    const began = new Date();
    for (let index = 0; index < 10; index += 1)
      await send('PATCH', `/endpoints/${id}`, { description: `${index}` });
    const seen: Change[] = [];
    let path: string | undefined = `/changes?resource=endpoint:${id}&limit=3`;
    while (path !== undefined) {
      const page: Answer['json'] = (await send('GET', path)).json;
      seen.push(...page.data);
      path = page.paging.next?.replace('/v18.0', '');
      await send('PATCH', `/endpoints/${id}`, { description: `while at page ${seen.length}` });
    }
    assert.deepEqual(
      seen.map(({ version }) => version),
      [11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1],
    );
    const count = async (query: string) =>
      (await send('GET', `/changes?limit=100&${query}`)).json.data.length;
    const all = await count('');
    assert.equal(
      await count(`actor=${client.keyId}`),
      all - 3,
      'all but the account, its key and its profile',
    );
    assert.equal(await count('actor=operator'), 3);
    assert.equal(await count(`created_before=${began.toISOString()}`), 4);
    assert.equal(await count(`created_after=${began.toISOString()}`), all - 4);
    assert.equal(await count('actor=key_of_nobody'), 0);
  });
});
