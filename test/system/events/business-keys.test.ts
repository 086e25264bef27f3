import assert from 'node:assert/strict';
import { equals } from '../../../src/temporal/read/visibility/query.js';
import { everyExecution } from '../../../src/temporal/read/visibility/visibility.js';
import { type Accepted, type ApiClient, PURCHASE } from '../../support/api-client.js';
import { type Receiver, reply, startReceiver } from '../../support/receiver.js';
import { type SharedSystem, sharedSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

const purchase = (order_id: string) => JSON.stringify({ ...JSON.parse(PURCHASE), order_id });
const ids = (rows: readonly { id: string }[]) => rows.map(({ id }) => id).sort();

describe('business keys', () => {
  let system: SharedSystem;
  let receiver: Receiver;
  let failing: Receiver;
  let client: ApiClient;

  before(async () => {
    system = await sharedSystem();
    receiver = await startReceiver();
    failing = await startReceiver({ handler: reply(500) });
    client = await system.account();
    await client.register(receiver.url);
  });
  after(async () => {
    await receiver.close();
    await failing.close();
  });

  const find = async (list: string, key: string, by = client) => {
    const answer = await by.request('GET', `/v18.0/${list}?limit=100&key=${encodeURIComponent(key)}`);
    assert.equal(answer.status, 200, answer.text);
    return answer.json.data as { id: string; event_id?: string; status?: string; run_id?: string }[];
  };
  const findUntil = (list: string, key: string, count: number, by = client) =>
    until(
      () => find(list, key, by),
      (rows) => rows.length >= count,
    );

  it('find an event and its deliveries', async () => {
    const event = await client.purchase(purchase('order-1001'));
    await client.purchase(purchase('order-1002'));
    assert.deepEqual(ids(await findUntil('events', 'order_id:order-1001', 1)), [event.id]);
    assert.deepEqual(ids(await findUntil('deliveries', 'order_id:order-1001', 1)), ids(event.deliveries));
    await findUntil('events', 'order_id:order-1002', 1);
    assert.deepEqual(await find('events', 'order_id:order-100'), []);
    assert.deepEqual(await find('events', 'order:order-1001'), []);
  });

  it('find each event of a group alone, and all that share a key', async () => {
    const orders = Array.from({ length: 40 }, (_, index) => `burst-${index}`);
    const events = await Promise.all(
      orders.map((order, index) =>
        client.purchase(purchase(order), { 'hookline-key': `batch=${index % 2 ? 'odd' : 'even'}` }),
      ),
    );
    await findUntil('events', 'batch:odd', 20);
    await findUntil('events', 'batch:even', 20);
    for (const index of [0, 1, 20, 39]) {
      assert.deepEqual(ids(await find('events', `order_id:${orders[index]}`)), [events[index]?.id]);
      assert.deepEqual(
        ids(await findUntil('deliveries', `order_id:${orders[index]}`, 1)),
        ids(events[index]?.deliveries ?? []),
      );
    }
    const odd = events.filter((_, index) => index % 2);
    assert.deepEqual(ids(await find('events', 'batch:odd')), ids(odd));
    const deliveries = await findUntil('deliveries', 'batch:odd', 20);
    assert.deepEqual(ids(deliveries), ids(odd.flatMap(({ deliveries }) => deliveries)));
    const kind = await client.request('GET', '/v18.0/events?kind=order.shipped&key=batch:odd');
    assert.deepEqual(kind.json.data, []);
  });

  it('stay with an event without endpoints, with many, acted upon or resent [world]', async () => {
    const other = await system.account();
    const lonely = await other.purchase(purchase('lonely'));
    assert.deepEqual(ids(await findUntil('events', 'order_id:lonely', 1, other)), [lonely.id]);

    await Promise.all(Array.from({ length: 12 }, () => other.register(failing.url)));
    const many = await other.purchase(purchase('many'));
    assert.equal(many.delivery_count, 12);
    const deliveries = await findUntil('deliveries', 'order_id:many', 12, other);
    assert.ok(deliveries.every(({ event_id }) => event_id === many.id));
    const [{ id = '' } = {}] = deliveries;
    await other.deliveryUntil(id, ({ status }) => status === 'retrying');
    const act = (action: string) => other.request('POST', `/v18.0/deliveries/${id}/${action}`);
    assert.equal((await act('pause')).status, 200);
    const alone = await until(
      () => find('deliveries', 'order_id:many', other),
      (rows) => rows.length === 12 && rows.some((row) => row.id === id && row.status === 'parked'),
    );
    assert.deepEqual(ids(alone), ids(deliveries));
    assert.equal((await act('cancel')).status, 200);
    await other.deliveryUntil(
      id,
      ({ status, closed_at }) => status === 'cancelled' && closed_at !== undefined,
    );
    const resent = await act('resend');
    assert.equal(resent.status, 202);
    const again = await until(
      () => find('deliveries', 'order_id:many', other),
      (rows) => rows.some(({ run_id }) => run_id === resent.json.run_id),
    );
    assert.deepEqual(ids(again), ids(deliveries));
    // It begins at once, and not where it was in its group.
    const { attempts } = await other.deliveryUntil(id, ({ status }) => status === 'retrying');
    assert.deepEqual(
      attempts.map(({ number, trigger }) => [number, trigger]),
      [[1, 'manual']],
    );
  });

  it('are those of the schema that the event was accepted by', async () => {
    const schema = {
      properties: { parcel: { properties: { number: { 'x-hookline-key': true } } } },
    };
    const kind = { name: 'parcel.sent', schema };
    assert.equal((await client.request('POST', '/v18.0/event_kinds', { body: kind })).status, 201);
    const accepted = await client.request('POST', '/v18.0/events/parcel.sent', {
      body: { parcel: { number: 4711 } },
    });
    assert.equal(accepted.status, 202, accepted.text);
    assert.deepEqual(ids(await findUntil('events', 'parcel.number:4711', 1)), [accepted.json.id]);
  });

  it('are an account’s own', async () => {
    const [one, two] = [await system.account(), await system.account()];
    const mine = await one.purchase(purchase('same-order'));
    const theirs = await two.purchase(purchase('same-order'));
    assert.deepEqual(ids(await findUntil('events', 'order_id:same-order', 1, one)), [mine.id]);
    assert.deepEqual(ids(await findUntil('events', 'order_id:same-order', 1, two)), [theirs.id]);
  });

  it('are in nothing that Temporal has of an execution [world]', async () => {
    const { id } = await client.purchase(purchase('ada@example.com'), {
      'hookline-key': 'customer=ada%40example.com',
    });
    await findUntil('events', 'customer:ada@example.com', 1);
    const found = await until(
      async () => {
        const some = [];
        const clauses = [equals('HooklineEvent', id)];
        for await (const one of everyExecution(system.temporal.client, clauses)) some.push(one);
        return some;
      },
      (some) => some.length === 1,
    );
    assert.ok(!JSON.stringify(found[0]).includes('ada@'));
  });

  it('count as part of the request that an Idempotency-Key repeats', async () => {
    const post = (key: string) =>
      client.request('POST', '/v18.0/events/purchase', {
        raw: PURCHASE,
        headers: { 'idempotency-key': 'once', 'hookline-key': key },
      });
    const first: Accepted = (await post('customer=c-1')).json;
    assert.equal((await post('customer=c-1')).json.id, first.id);
    assert.equal((await post('customer=c-2')).status, 409);
  });

  it('are refused where they are not valid, with what to send instead', async () => {
    for (const list of ['events', 'deliveries']) {
      const answer = await client.request('GET', `/v18.0/${list}?key=order`);
      assert.equal(answer.status, 400);
      assert.match(answer.json.detail, /key must be name:value, such as order_id:1001/);
      const quoted = await client.request(
        'GET',
        `/v18.0/${list}?key=${encodeURIComponent("a:' OR 1=1 --\\")}`,
      );
      assert.deepEqual([quoted.status, quoted.json.data], [200, []]);
    }
    const headers = { 'hookline-key': 'order' };
    const refused = await client.request('POST', '/v18.0/events/purchase', { raw: PURCHASE, headers });
    assert.equal(refused.status, 400);
    assert.match(refused.json.detail, /Hookline-Key must be name=value/);
  });
});
