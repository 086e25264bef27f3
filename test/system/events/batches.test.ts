import assert from 'node:assert/strict';
import mongoose from 'mongoose';
import { MAX_PAYLOAD_BYTES } from '../../../packages/payload-contract/src/index.js';
import { MAX_BATCH_BYTES, MAX_BATCH_EVENTS } from '../../../src/api/routes/events/batch-body.js';
import { newId } from '../../../src/domain/basics/ids.js';
import { MAX_NAMED_ENDPOINTS } from '../../../src/domain/delivery/recipients.js';
import { type ApiClient, PURCHASE } from '../../support/api-client.js';
import { type ReceivedRequest, type Receiver, startReceiver } from '../../support/receiver.js';
import { type SharedSystem, sharedSystem } from '../../support/system.js';

/** A purchase of an order, with more members in front. */
const purchase = (order: string, more = '') =>
  `{${more}"order_id":"${order}","customer_email":"ada@example.com","total":12.50,"items":[],"created_at":"2026-01-31T12:00:00Z"}`;

describe('several events in one request', () => {
  let system: SharedSystem;
  let receiver: Receiver;
  let client: ApiClient;

  before(async () => {
    system = await sharedSystem();
    receiver = await startReceiver();
  });
  after(() => receiver.close());
  beforeEach(async () => {
    client = await system.account();
  });

  const post = (raw: string) => client.request('POST', '/v18.0/events', { raw });
  /** @param events members of each, as JSON text */
  const batch = (events: readonly string[], mode = '') =>
    post(`{${mode && `"mode":"${mode}",`}"events":[${events.map((event) => `{${event}}`).join()}]}`);
  const listed = async () => (await client.request('GET', '/v18.0/events')).json.data.length;
  const posted = (order: string, more = '') => `"kind":"purchase","payload":${purchase(order)}${more}`;

  it('are delivered byte for byte, and answered in their order', async () => {
    await client.register(receiver.url);
    const bodies = [
      purchase('a', '"n":9007199254740993, "e":1E+2,'),
      purchase('b', '"a":"\\u00e9]},","payload": {"x":[1]},'),
      purchase('c', '\n\t"z":1,"z":2,'),
    ];
    const { status, json } = await batch(bodies.map((body) => `"kind":"purchase", "payload" : ${body} \n`));
    assert.deepEqual([status, json.accepted, json.refused], [202, 3, 0]);
    const events: { id: string; sequence: number }[] = json.results.map(
      ({ event }: { event: object }) => event,
    );
    assert.equal(new Set(events.map(({ sequence }) => sequence)).size, 3);
    const all = await receiver.waitFor((received) =>
      events.every(({ id }) => received.some(({ headers }) => headers['webhook-id'] === id)),
    );
    for (const [index, { id }] of events.entries()) {
      const received = all.find(({ headers }) => headers['webhook-id'] === id);
      assert.equal(received?.body.toString(), bodies[index]);
    }
  });

  const CART = ',"order_key":"cart-7"';
  /** Ids of the accepted events. */
  const idsIn = (json: { results: { event?: { id: string } }[] }) =>
    json.results.flatMap(({ event }) => event?.id ?? []);
  const numbersOf = async (endpoint_id: string, ids: readonly string[]) => {
    const { orderPlaces } = system.database;
    const found = ids.map((event_id) => orderPlaces.find({ endpoint_id, event_id }));
    return (await Promise.all(found)).map((place) => place?.number);
  };
  const wrong = '"kind":"purchase","payload":{"order_id":7}';

  for (const mode of ['all_or_nothing', 'each'])
    it(`are delivered, and in the feed, in their order, if they have one order key: ${mode}`, async () => {
      const { id: endpoint } = await client.register(receiver.url, { ordering: 'key' });
      // The payloads about a new person are ready later than the others: a key is made for each.
      const orders = ['a', 'b', 'c', 'd', 'e'].map((order, index) =>
        posted(order, index % 2 === 0 ? `${CART},"subject":"${order}@example.com"` : CART),
      );
      if (mode === 'each') orders.splice(2, 0, wrong);
      const ids = idsIn((await batch(orders, mode)).json);
      assert.equal(ids.length, 5);
      const all = await receiver.waitFor((received) =>
        ids.every((id) => received.some(({ headers }) => headers['webhook-id'] === id)),
      );
      const own = all.filter(({ headers }) => ids.includes(headers['webhook-id'] ?? ''));
      assert.deepEqual(
        own.map(({ headers }) => headers['webhook-id']),
        ids,
      );
      const key = own[0]?.headers['webhook-order']?.slice('1;'.length);
      assert.ok(key?.startsWith('key="'), key);
      assert.deepEqual(
        own.map(({ headers }) => headers['webhook-order']),
        [`1;${key}`, ...[2, 3, 4, 5].map((number) => `${number};previous=${number - 1};${key}`)],
      );
      assert.deepEqual(await numbersOf(endpoint, ids), [1, 2, 3, 4, 5]);
      const feed = await client.request('GET', '/v18.0/feed?wait=5');
      assert.deepEqual(
        feed.json.data.map(({ id }: { id: string }) => id),
        ids,
      );
    });

  it('have one place for two of one idempotency key, whose first counts', async () => {
    const { id: endpoint } = await client.register(receiver.url, { ordering: 'key' });
    const once = `${CART},"idempotency_key":"once"`;
    const { json } = await batch(
      [
        posted('a', `${CART},"subject":"z@example.com"`),
        ...['b', 'b', 'c'].map((o) => posted(o, once)),
      ].concat(posted('d', CART)),
      'each',
    );
    assert.deepEqual(
      json.results.map(({ status }: { status: number }) => status),
      [202, 202, 202, 409, 202],
    );
    assert.deepEqual(await numbersOf(endpoint, idsIn(json)), [1, 2, 2, 3]);
  });

  for (const mode of ['all_or_nothing', 'each'])
    it(`take the places that they did not get, when they are sent again: ${mode}`, async () => {
      const { id: endpoint } = await client.register(receiver.url, { ordering: 'key' });
      const events = ['a', 'b'].map((order) => posted(order, `${CART},"idempotency_key":"${order}"`));
      const ids = idsIn((await batch(events, mode)).json);
      // As if the process had died between the insert of the events and that of their places.
      const raw = await mongoose.createConnection(system.environment['MONGODB_URI'] ?? '').asPromise();
      await raw.collection('order_places').deleteMany({ event_id: { $in: ids } });
      await raw.close();
      const again = await batch([...events, posted('c', CART)], mode);
      // Their attempts may be first, in any order.
      const [a, b, c] = await numbersOf(endpoint, idsIn(again.json));
      assert.deepEqual([[a, b].sort(), c], [[3, 4], 5]);
    });

  it('arrive in their order, a hundred of one key and a hundred of ten, in two requests at once [world]', async function () {
    this.timeout(600_000);
    const { id: endpoint } = await client.register(receiver.url, { ordering: 'key' });
    const requests = [1, 10].map(async (keys) => {
      const events = Array.from({ length: MAX_BATCH_EVENTS }, (_, index) => {
        const subject = index % 9 === 0 ? `,"subject":"${keys}-${index}"` : '';
        return posted(String(index), `,"order_key":"${keys}-${index % keys}"${subject}`);
      });
      const { json, status, text } = await batch(events, 'each');
      assert.equal(status, 202, text);
      return { keys, ids: idsIn(json) };
    });
    for (const { keys, ids } of await Promise.all(requests)) {
      const places = ids.map((_, index) => Math.floor(index / keys) + 1);
      assert.deepEqual(await numbersOf(endpoint, ids), places);
      const idOf = ({ headers }: ReceivedRequest) => headers['webhook-id'] ?? '';
      const all = await receiver.waitFor((received) => {
        const there = new Set(received.map(idOf));
        return ids.every((id) => there.has(id));
      }, 500_000);
      for (let key = 0; key < keys; key += 1) {
        const own = ids.filter((_, index) => index % keys === key);
        const arrived = all.map(idOf).filter((id) => own.includes(id));
        assert.deepEqual([...new Set(arrived)], own);
      }
    }
  });

  it('are not accepted if one of them cannot be, and the answer names every such place', async () => {
    const bad = '"kind":"purchase","payload":{"order_id":7}';
    const foreign = newId('endpoint');
    const { status, json } = await batch([
      posted('a'),
      bad,
      posted('b', `,"endpoint_ids":["${foreign}"]`),
      '"kind":"nothing","payload":{}',
      '"kind":"purchase","payload":{"a" 1}',
    ]);
    assert.deepEqual([status, json.code], [400, 'invalid_payload']);
    assert.match(json.detail, /^No event was accepted\. Event 1: /);
    const pointers = json.errors.map(({ pointer }: { pointer: string }) => pointer);
    for (const one of [
      '/events/1/payload/order_id',
      '/events/2/endpoint_ids',
      '/events/3/kind',
      '/events/4/payload',
    ])
      assert.ok(pointers.includes(one), `${one} of ${pointers}`);
    assert.match(JSON.stringify(json.errors), new RegExp(foreign));
    assert.equal(await listed(), 0);
  });

  it('are accepted each by itself, if that is asked for', async () => {
    const events = [posted('a'), '"kind":"purchase","payload":{"order_id":7}', posted('b')];
    const { status, json } = await batch(events, 'each');
    assert.deepEqual([status, json.accepted, json.refused], [202, 2, 1]);
    const [first, second, third] = json.results;
    assert.deepEqual([first.status, second.status, third.status], [202, 400, 202]);
    assert.equal(second.problem.code, 'invalid_payload');
    assert.equal(second.problem.errors[0].pointer, '/events/1/payload/customer_email');
    assert.notEqual(first.event.id, third.event.id);
    assert.equal(await listed(), 2);
  });

  for (const mode of ['all_or_nothing', 'each'])
    it(`are the same events when they are sent again with their keys: ${mode}`, async () => {
      const events = ['a', 'b'].map((order) => posted(order, `,"idempotency_key":"${order}"`));
      const first = await batch(events, mode);
      const more = await batch([...events, posted('c', ',"idempotency_key":"c"')], mode);
      const ids = (json: { results: { event: { id: string } }[] }) =>
        json.results.map(({ event }) => event.id);
      assert.deepEqual(ids(more.json).slice(0, 2), ids(first.json));
      assert.equal(await listed(), 3);
      const conflict = await batch([posted('d'), posted('e', ',"idempotency_key":"a"')], mode);
      if (mode === 'each') {
        assert.deepEqual(
          conflict.json.results.map(({ status }: { status: number }) => status),
          [202, 409],
        );
      } else {
        assert.deepEqual([conflict.status, conflict.json.code], [409, 'idempotency_conflict']);
        assert.equal(conflict.json.errors[0].pointer, '/events/1/idempotency_key');
      }
      assert.equal(await listed(), mode === 'each' ? 4 : 3);
    });

  const refused: Record<string, [body: () => string, status: number, told: RegExp]> = {
    'more than there may be': [
      () =>
        `{"events":[${Array(MAX_BATCH_EVENTS + 1)
          .fill('{"payload":1}')
          .join()}`,
      400,
      /at most 100 entries/,
    ],
    'more than there may be, without payloads': [
      () =>
        `{"events":[${Array(MAX_BATCH_EVENTS + 1)
          .fill('{}')
          .join()}]}`,
      400,
      /at most 100 entries/,
    ],
    'too many bytes': [() => `{"events":"${'x'.repeat(MAX_BATCH_BYTES)}"}`, 413, /larger than 1048576 bytes/],
    'a payload that is too large': [
      () => `{"events":[{"kind":"purchase","payload":"${'x'.repeat(MAX_PAYLOAD_BYTES)}"}]}`,
      413,
      /larger than 262144 bytes/,
    ],
    'a payload twice': [
      () => '{"events":[{"kind":"purchase","payload":1,"payload":2}]}',
      400,
      /"payload" once/,
    ],
    'no payload': [() => '{"events":[{"kind":"purchase"}]}', 400, /events\/0\/payload is missing/],
    'one event by itself': [() => PURCHASE, 400, /one event alone is posted to/],
    'a mistake in the JSON': [
      () => '{"events":[\n{"kind":"purchase","payload":{},}]}',
      400,
      /at line 2, column 33/,
    ],
    'one key twice': [
      () =>
        `{"events":[${['a', 'b'].map((order) => `{${posted(order, ',"idempotency_key":"k"')}}`).join()}]}`,
      400,
      /a different idempotency_key/,
    ],
    'too many named endpoints': [
      () => {
        const ids = Array.from({ length: MAX_NAMED_ENDPOINTS + 1 }, () => `"${newId('endpoint')}"`);
        return `{"events":[{${posted('a', `,"endpoint_ids":[${ids.join()}]`)}}]}`;
      },
      400,
      /at most 20 entries/,
    ],
  };
  for (const [what, [body, status, told]] of Object.entries(refused))
    it(`are refused with ${what}`, async () => {
      const { json, ...answer } = await post(body());
      assert.equal(answer.status, status, answer.text);
      assert.match(json.detail, told);
      assert.equal(await listed(), 0);
    });
});
