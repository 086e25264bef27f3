import assert from 'node:assert/strict';
import { OPERATOR } from '../../../src/domain/change/change.js';
import { EVENT_KINDS, type EventKind } from '../../../src/domain/event/event-kinds.js';
import { type ApiClient, PURCHASE } from '../../support/api-client.js';
import { type Receiver, startReceiver } from '../../support/receiver.js';
import { type SharedSystem, sharedSystem } from '../../support/system.js';

const SHIPPED = {
  type: 'object',
  required: ['order_id'],
  properties: { order_id: { type: 'string', pattern: '^[a-z]+-[0-9]+$' } },
};

describe('event kinds', () => {
  let system: SharedSystem;
  let client: ApiClient;
  let receiver: Receiver;

  before(async () => {
    system = await sharedSystem();
    receiver = await startReceiver();
  });
  beforeEach(async () => {
    client = await system.account();
  });
  after(() => receiver.close());

  const create = (name: string, schema: object = SHIPPED) =>
    client.request('POST', '/v18.0/event_kinds', {
      body: { name, schema, description: 'It is on its way.' },
    });
  const post = (kind: string, body: object, query = '') =>
    client.request('POST', `/v18.0/events/${kind}${query}`, { body });

  it('have purchase built in, which nobody can change', async () => {
    const { json } = await client.request('GET', '/v18.0/event_kinds');
    assert.ok(json.data.every(({ built_in }: { built_in: boolean }) => built_in));
    assert.ok(json.data.some(({ name }: { name: string }) => name === 'purchase'));
    const shown = await client.request('GET', '/v18.0/event_kinds/purchase');
    assert.equal(shown.json.schema.type, 'object');
    const changed = await client.request('PUT', '/v18.0/event_kinds/purchase', { body: { schema: {} } });
    assert.deepEqual([changed.status, changed.json.code], [409, 'event_kind_conflict']);
    assert.equal((await client.request('DELETE', '/v18.0/event_kinds/purchase')).status, 409);
    for (const name of ['purchase', 'endpoint.disabled', 'hookline.x'])
      assert.equal((await create(name)).status, 400);
  });

  it('check a purchase for what is documented and for nothing more', async () => {
    const purchase = {
      ...{ order_id: '', customer_email: 'josé@exämple.com', total: -0.5, items: [{ name: '', qty: 0 }] },
      created_at: '2026-01-31T12:00:00.5+00:00',
    };
    assert.equal((await post('purchase', purchase)).status, 202);
    const wrong = { ...purchase, customer_email: 'josé', items: [{ name: 'a', qty: 0.5 }] };
    const { status, json } = await post('purchase', wrong);
    assert.equal(status, 400);
    assert.deepEqual(json.errors.map(({ pointer }: { pointer: string }) => pointer).sort(), [
      '/customer_email',
      '/items/0/qty',
    ]);
  });

  it("are the account's own, and events of them are validated and delivered [world]", async () => {
    const created = await create('order.shipped');
    assert.equal(created.status, 201, created.text);
    assert.equal(created.headers.get('location'), '/v18.0/event_kinds/order.shipped');
    assert.equal((await create('order.shipped')).status, 409);
    for (const kinds of [['order.shipped'], ['order.*'], ['*']])
      await client.register(receiver.url, { event_kinds: kinds });
    await client.register(receiver.url, { event_kinds: ['purchase'] });

    const refused = await post('order.shipped', { order_id: 'ORDER' });
    assert.deepEqual([refused.status, refused.json.code], [400, 'invalid_payload']);
    assert.equal(refused.json.errors[0].pointer, '/order_id');
    const accepted = await post('order.shipped', { order_id: 'order-1' });
    assert.equal(accepted.status, 202);
    assert.equal(accepted.json.delivery_count, 3);
    const received = await receiver.waitFor(
      (all) => all.filter(({ headers }) => headers['webhook-id'] === accepted.json.id).length === 3,
    );
    assert.equal(received.at(-1)?.headers['webhook-event-kind'], 'order.shipped');

    const other = await system.account();
    assert.equal(
      (await other.request('POST', '/v18.0/events/order.shipped', { body: { order_id: 'order-1' } })).status,
      404,
    );
    assert.equal((await other.request('GET', '/v18.0/event_kinds/order.shipped')).status, 404);
    const foreign = await other.request('POST', '/v18.0/endpoints', {
      body: { target_url: receiver.url, event_kinds: ['order.shipped'] },
    });
    assert.equal(foreign.status, 400);
  });

  it('have versions: another schema is the next one, and producers may name the one they send', async () => {
    await create('order.shipped');
    const path = '/v18.0/event_kinds/order.shipped';
    const stricter = { ...SHIPPED, required: ['order_id', 'carrier'] };
    const second = await client.request('PUT', path, { body: { schema: stricter } });
    assert.deepEqual([second.json.version, second.json.versions.length], [2, 2]);
    const same = await client.request('PUT', path, { body: { schema: stricter, description: 'new words' } });
    assert.deepEqual([same.json.version, same.json.description], [2, 'new words']);

    assert.equal((await post('order.shipped', { order_id: 'order-1' })).status, 400);
    assert.equal((await post('order.shipped', { order_id: 'order-1' }, '?schema_version=1')).status, 202);
    const missing = await post('order.shipped', { order_id: 'order-1' }, '?schema_version=3');
    assert.deepEqual([missing.status, missing.json.code], [404, 'unknown_event_kind']);
  });

  describe('of a name that is built in later', () => {
    let builtIns: EventKind[];
    const isLater = { type: 'object', required: ['built_in_later'] };
    beforeEach(async () => {
      assert.equal((await create('order.shipped')).status, 201);
      builtIns = EVENT_KINDS as EventKind[];
      const [purchase] = builtIns as [EventKind];
      builtIns.push({ ...purchase, name: 'order.shipped', schema: isLater });
    });
    afterEach(() => {
      builtIns.pop();
    });

    it("stay the account's own, and are listed once as such", async () => {
      assert.equal((await post('order.shipped', { order_id: 'order-1' })).status, 202);
      assert.equal((await post('order.shipped', { order_id: 'ORDER', built_in_later: 1 })).status, 400);
      const { json } = await client.request('GET', '/v18.0/event_kinds');
      const listed = json.data.filter(({ name }: { name: string }) => name === 'order.shipped');
      assert.equal(listed.length, 1);
      assert.deepEqual([listed[0].built_in, listed[0].overrides_built_in], [false, true]);
      const path = '/v18.0/event_kinds/order.shipped';
      assert.equal((await client.request('GET', path)).json.overrides_built_in, true);
      const changed = await client.request('PUT', path, { body: { schema: { type: 'object' } } });
      assert.deepEqual([changed.status, changed.json.version], [200, 2]);
      assert.equal((await post('order.shipped', {}, '?schema_version=2')).status, 202);
      assert.equal((await post('order.shipped', {}, '?schema_version=1')).status, 400);
    });

    it('are the built-in ones for other accounts, and once the own one is deleted', async () => {
      const expectBuiltIn = async (account: ApiClient) => {
        const send = (body: object) => account.request('POST', '/v18.0/events/order.shipped', { body });
        assert.equal((await send({ built_in_later: 1 })).status, 202);
        assert.equal((await send({ order_id: 'order-1' })).json.errors[0].pointer, '/built_in_later');
        const { json } = await account.request('GET', '/v18.0/event_kinds/order.shipped');
        assert.deepEqual([json.built_in, json.overrides_built_in], [true, undefined]);
      };
      await expectBuiltIn(await system.account());
      assert.equal((await client.request('DELETE', '/v18.0/event_kinds/order.shipped')).status, 204);
      await expectBuiltIn(client);
    });

    it('are checked by their own schema, also if they copy everything else of another kind', async () => {
      const other = await system.account();
      await other.purchase();
      const answer = await other.request('POST', '/v18.0/events/order.shipped', { raw: PURCHASE });
      assert.equal(answer.json.errors[0].pointer, '/built_in_later');
    });
  });

  it('are as many as an account may have, also if some are added at once [world]', async () => {
    const { accountId } = client;
    for (let number = 0; number < 198; number += 1)
      await system.database.eventKinds.create(accountId, `kind.n${number}`, '', {}, OPERATOR);
    const answers = await Promise.all(Array.from({ length: 6 }, (_, index) => create(`more.n${index}`)));
    const statuses = answers.map(({ status }) => status).sort();
    assert.deepEqual(statuses, [201, 201, 409, 409, 409, 409]);
    assert.equal(await system.database.eventKinds.count(accountId), 200);
  });

  it('go only when no endpoint names them', async () => {
    await create('order.shipped');
    const { id } = await client.register(receiver.url, { event_kinds: ['order.shipped'] });
    const path = '/v18.0/event_kinds/order.shipped';
    const refused = await client.request('DELETE', path);
    assert.equal(refused.status, 409);
    assert.ok(refused.json.detail.includes(id));
    await client.request('DELETE', `/v18.0/endpoints/${id}`);
    assert.equal((await client.request('DELETE', path)).status, 204);
    assert.equal((await client.request('GET', path)).status, 404);
    const unknown = await post('order.shipped', { order_id: 'order-1' });
    assert.deepEqual([unknown.status, unknown.json.code], [404, 'unknown_event_kind']);
  });

  it('are listed in pages', async () => {
    for (const name of ['b.two', 'a.one', 'z']) await create(name);
    const first = await client.request('GET', '/v18.0/event_kinds?limit=2');
    const second = await client.request('GET', first.json.paging.next);
    const names = [...first.json.data, ...second.json.data].map(({ name }: { name: string }) => name);
    assert.deepEqual(names.slice(0, 2), ['a.one', 'b.two']);
    assert.deepEqual(names, [...names].sort());
    assert.equal(new Set(names).size, 4);
  });

  it('are refused with pointers where their schema does not do', async () => {
    const { status, json } = await create('order.shipped', {
      type: 'object',
      properties: { a: { $ref: 'https://example.com' } },
    });
    assert.equal(status, 400);
    assert.equal(json.errors[0].pointer, '/schema/properties/a/$ref');
  });

  it('survive payloads that are deeper than a comparison goes', async () => {
    await create('deep', { type: 'array', maxItems: 10, uniqueItems: true });
    const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
    const { status, json } = await client.request('POST', '/v18.0/events/deep', { raw: `[${deep},${deep}]` });
    assert.equal(status, 400);
    assert.ok(['invalid_payload', 'invalid_json'].includes(json.code));
  });
});
