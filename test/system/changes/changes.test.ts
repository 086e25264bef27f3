import assert from 'node:assert/strict';
import { OPERATOR_SCOPES } from '../../../src/domain/access/api-key.js';
import type { Change } from '../../../src/domain/change/change.js';
import { type Answer, type ApiClient, PURCHASE } from '../../support/api-client.js';
import { untilAtRest, untilHeard, workflowIdOf } from '../../support/history.js';
import { ADDRESS, changesOf, newestChange, send } from '../../support/parts/changes.js';
import { type Receiver, reply, startReceiver } from '../../support/receiver.js';
import { ONE_BY_ONE, PROXIED, type SharedSystem, sharedSystem } from '../../support/system.js';

describe('changes', () => {
  let system: SharedSystem;
  let receiver: Receiver;
  let client: ApiClient;

  before(async () => {
    system = await sharedSystem({ ...PROXIED, ...ONE_BY_ONE });
    receiver = await startReceiver();
  });
  beforeEach(async () => {
    client = await system.account(OPERATOR_SCOPES);
  });
  after(() => receiver.close());

  const actions = async (resource: string) =>
    (await changesOf(client, resource)).map(({ action }) => action).reverse();

  it('of an endpoint say who, from where, by which request, what it was and what it became', async () => {
    const { id } = await client.register(receiver.url, { description: 'first' });
    const { headers } = await send(client, 'PATCH', `/endpoints/${id}`, {
      description: 'second',
      metadata: { team: 'a' },
    });
    const change = await newestChange(client, `endpoint:${id}`);
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
        outcome: 'done',
        actor: { type: 'api_key', id: client.keyId, name: 'test' },
        address: ADDRESS,
        request_id: headers.get('x-request-id'),
        changed: ['/description', '/metadata/team'],
        before: 'first',
        after: 'second',
      },
    );
    const shown = (await send(client, 'GET', `/endpoints/${id}`)).json;
    assert.deepEqual(change.after, shown);
    assert.equal(shown.version, 2);
    assert.equal(change.at, shown.updated_at);
  });

  it('of an endpoint are its versions, one for each act', async () => {
    const { id } = await client.register(receiver.url);
    await send(client, 'PUT', `/endpoints/${id}`, { target_url: receiver.url, event_kinds: ['*'] });
    await send(client, 'POST', `/endpoints/${id}/pause`);
    await send(client, 'POST', `/endpoints/${id}/resume`);
    await send(client, 'POST', `/endpoints/${id}/secret/rotate`, { overlap: '1h' });
    await send(client, 'DELETE', `/endpoints/${id}/secret/previous`);
    await send(client, 'DELETE', `/endpoints/${id}`);
    const versions: Change[] = (await send(client, 'GET', `/endpoints/${id}/versions`)).json.data;
    const unknown = '/v18.0/endpoints/unknown/versions?after=chg_00000000000000000000000000';
    assert.equal((await client.request('GET', unknown)).status, 404);
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
    assert.deepEqual(versions, await changesOf(client, `endpoint:${id}`));
    for (const [index, { before }] of versions.entries())
      assert.deepEqual(before, versions[index + 1]?.after);
    assert.equal(versions[0]?.after, undefined);
    assert.deepEqual(versions[2]?.changed, ['/secret']);
  });

  it('of every other kind of resource are recorded, each act [world]', async () => {
    const { id: profile } = (await send(client, 'POST', '/profiles', { username: 'ada', name: 'A' })).json;
    await send(client, 'PUT', `/profiles/${profile}`, { username: 'ada', name: 'Ada' });
    const login = { login_name: 'ada', password: 'correct horse battery' };
    await send(client, 'PUT', `/profiles/${profile}/login`, login);
    await send(client, 'PUT', `/profiles/${profile}/login`, { ...login, password: 'another horse battery' });
    assert.deepEqual((await newestChange(client, `login:${profile}`)).changed, ['/password']);
    await send(client, 'PUT', `/profiles/${profile}/login`, { ...login, login_name: 'ada2' });
    await send(client, 'DELETE', `/profiles/${profile}`);
    assert.deepEqual(await actions(`profile:${profile}`), ['created', 'updated', 'deleted']);
    assert.deepEqual(await actions(`login:${profile}`), [
      'created',
      'updated',
      'deleted',
      'created',
      'deleted',
    ]);

    const key = (await send(client, 'POST', '/api_keys', { name: 'one', scopes: ['profile:read'] })).json;
    await send(client, 'DELETE', `/api_keys/${key.id}`);
    assert.deepEqual(await actions(`api_key:${key.id}`), ['created', 'revoked']);

    const registration = { name: 'app', scopes: ['profile:read'] };
    const app = (await send(client, 'POST', '/oauth_clients', registration)).json;
    await send(client, 'PUT', `/oauth_clients/${app.id}`, { ...registration, name: 'application' });
    await send(client, 'POST', `/oauth_clients/${app.id}/secret/rotate`, {});
    assert.deepEqual((await newestChange(client, `oauth_client:${app.id}`)).changed, ['/secret']);
    await send(client, 'DELETE', `/oauth_clients/${app.id}`);
    assert.deepEqual(await actions(`oauth_client:${app.id}`), [
      'created',
      'updated',
      'secret_rotated',
      'deleted',
    ]);

    await send(client, 'POST', '/event_kinds', { name: 'order.shipped', schema: {} });
    await send(client, 'PUT', '/event_kinds/order.shipped', { schema: { type: 'object', $comment: 'next' } });
    assert.deepEqual((await newestChange(client, 'event_kind:order.shipped')).changed, [
      '/schema_version',
      '/schema/type',
      '/schema/$comment',
    ]);
    await send(client, 'DELETE', '/event_kinds/order.shipped');
    await send(client, 'POST', '/event_kinds', { name: 'order.shipped', schema: {} });
    assert.deepEqual(await actions('event_kind:order.shipped'), ['created', 'updated', 'deleted', 'created']);
  });

  it('are what people do to deliveries, with their reason and how they ended [world]', async () => {
    receiver.handle(reply(500));
    await client.register(receiver.url, { retry_schedule: ['1h'] });
    const { deliveries } = await client.purchase(PURCHASE);
    const id = deliveries[0]?.id ?? '';
    await client.deliveryUntil(id, ({ status }) => status === 'retrying');
    await send(client, 'POST', `/deliveries/${id}/pause`, { reason: 'the shop is closed' });
    await send(client, 'POST', `/deliveries/${id}/resume`);
    await send(client, 'POST', `/deliveries/${id}/cancel`);
    for (const act of ['retry', 'pause', 'cancel']) {
      const refused = await client.request('POST', `/v18.0/deliveries/${id}/${act}`);
      assert.equal(refused.status, 409, refused.text);
    }
    await untilHeard(system, workflowIdOf(client, id));
    await send(client, 'POST', `/deliveries/${id}/resend`, { reason: 'it is open again' });
    await client.deliveryUntil(id, ({ status }) => status === 'retrying');
    await untilAtRest(system, workflowIdOf(client, id));
    await send(client, 'POST', `/deliveries/${id}/retry`);
    const all = await changesOf(client, `delivery:${id}`);
    assert.deepEqual(new Set(all.map(({ actor }) => actor.id)), new Set([client.keyId]));
    assert.deepEqual(
      all.map(({ action, outcome, reason }) => [action, outcome, reason]),
      [
        ['retried', 'done', undefined],
        ['resent', 'done', 'it is open again'],
        ['cancelled', 'refused', undefined],
        ['paused', 'refused', undefined],
        ['retried', 'refused', undefined],
        ['cancelled', 'done', undefined],
        ['resumed', 'done', undefined],
        ['paused', 'done', 'the shop is closed'],
      ],
    );
  });

  it('show no secret, and say which was changed', async () => {
    const token = 'hub-verify-token';
    const first = { 'x-token': 'first-header-value', 'x-other': 'other-header-value' };
    const { id, secret } = await client.register(receiver.url, { headers: first, verify_token: token });
    await send(client, 'PATCH', `/endpoints/${id}`, {
      headers: { 'x-token': 'second-header-value', 'x-new': 'new-value' },
    });
    assert.deepEqual((await newestChange(client, `endpoint:${id}`)).changed, [
      '/headers/x-new',
      '/headers/x-token',
    ]);
    await send(client, 'PATCH', `/endpoints/${id}`, { verify_token: 'next-verify-token', description: 'd' });
    assert.deepEqual((await newestChange(client, `endpoint:${id}`)).changed, [
      '/description',
      '/verify_token',
    ]);
    const { secret: rotated } = (await send(client, 'POST', `/endpoints/${id}/secret/rotate`, {})).json;
    const key = (await send(client, 'POST', '/api_keys', { name: 'one', scopes: ['profile:read'] })).json;
    const app = (await send(client, 'POST', '/oauth_clients', { name: 'app', scopes: ['profile:read'] }))
      .json;
    const { id: profile } = (await send(client, 'POST', '/profiles', { username: 'ada', name: 'A' })).json;
    await send(client, 'PUT', `/profiles/${profile}/login`, {
      login_name: 'ada',
      password: 'correct horse battery',
    });
    const { text } = await send(client, 'GET', '/changes?limit=100');
    const secrets = [...Object.values(first), 'second-header-value', 'new-value', token, 'next-verify-token'];
    for (const value of [...secrets, secret, rotated, key.key, app.secret, 'correct horse battery']) {
      assert.ok(!text.includes(value), value);
    }
    assert.doesNotMatch(text, /hash|sealed|\$scrypt|whsec_/);
  });

  it('are paged newest first, each once while others are made, and filtered [world]', async () => {
    const { id } = await client.register(receiver.url);
    for (let index = 0; index < 10; index += 1)
      await send(client, 'PATCH', `/endpoints/${id}`, { description: `${index}` });
    const seen: Change[] = [];
    let path: string | undefined = `/changes?resource=endpoint:${id}&limit=3`;
    while (path !== undefined) {
      const page: Answer['json'] = (await send(client, 'GET', path)).json;
      seen.push(...page.data);
      path = page.paging.next?.replace('/v18.0', '');
      await send(client, 'PATCH', `/endpoints/${id}`, { description: `while at page ${seen.length}` });
    }
    assert.deepEqual(
      seen.map(({ version }) => version),
      [11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1],
    );
    const count = async (query: string) =>
      (await send(client, 'GET', `/changes?limit=100&${query}`)).json.data.length;
    const all = await count('');
    assert.equal(
      await count(`actor=${client.keyId}`),
      all - 3,
      'all but the account, its key and its profile',
    );
    assert.equal(await count('actor=operator'), 3);
    const second = seen.find(({ version }) => version === 2)?.at;
    assert.equal(await count(`created_before=${second}`), 4);
    assert.equal(await count(`created_after=${second}`), all - 5);
    assert.equal(await count('actor=key_of_nobody'), 0);
  });
});
