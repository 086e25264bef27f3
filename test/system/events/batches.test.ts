import assert from 'node:assert/strict';
import { MAX_PAYLOAD_BYTES } from '../../../packages/payload-contract/src/index.js';
import { MAX_BATCH_BYTES, MAX_BATCH_EVENTS } from '../../../src/api/routes/events/batch-body.js';
import { newId } from '../../../src/domain/basics/ids.js';
import { MAX_NAMED_ENDPOINTS } from '../../../src/domain/delivery/recipients.js';
import { type ApiClient, PURCHASE } from '../../support/api-client.js';
import { type Receiver, startReceiver } from '../../support/receiver.js';
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

  it('have places in the order of their key', async () => {
    await client.register(receiver.url, { ordering: 'key' });
    const { json } = await batch(['a', 'b'].map((order) => posted(order, ',"order_key":"cart-7"')));
    const ids: string[] = json.results.map(({ event }: { event: { id: string } }) => event.id);
    const all = await receiver.waitFor((received) =>
      ids.every((id) => received.some(({ headers }) => headers['webhook-id'] === id)),
    );
    const places = all.flatMap(({ headers }) =>
      ids.includes(headers['webhook-id'] ?? '') ? [headers['webhook-order'] ?? ''] : [],
    );
    const key = places[0]?.slice('1;'.length);
    assert.ok(key?.startsWith('key="'), key);
    assert.deepEqual(places, [`1;${key}`, `2;previous=1;${key}`]);
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
