import assert from 'node:assert/strict';
import { mock } from 'node:test';
import mongoose from 'mongoose';
import { MAX_SCHEDULED } from '../../../src/api/routes/events/scheduled.js';
import { idTime } from '../../../src/domain/basics/id-time.js';
import { newId } from '../../../src/domain/basics/ids.js';
import { ScheduledEvents } from '../../../src/models/event/scheduled-events.js';
import { type ApiClient, PURCHASE } from '../../support/api-client.js';
import { type Receiver, startReceiver } from '../../support/receiver.js';
import { type SharedSystem, sharedSystem, startSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

const PATH = '/v18.0/scheduled_events';

describe('a scheduled event', () => {
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

  const schedule = async (after: string, headers: Record<string, string> = {}, by = client) => {
    const query = after && `?deliver_after=${after}`;
    return by.request('POST', `${PATH}/purchase${query}`, { raw: PURCHASE, headers });
  };
  const read = async (id: string, by = client) => (await by.request('GET', `${PATH}/${id}`)).json;
  const sent = (id: string, by = client) =>
    until(
      () => read(id, by),
      ({ status }) => status === 'sent',
    );
  const events = async () => (await client.request('GET', '/v18.0/events')).json.data;
  const inSeconds = (seconds: number) => new Date(Date.now() + 1_000 * seconds).toISOString();

  it('waits without an attempt, and goes to the endpoints that are there when it is due', async () => {
    const { status, json, headers } = await schedule('', { 'hookline-deliver-at': inSeconds(60) });
    assert.deepEqual([status, json.status], [201, 'scheduled']);
    assert.equal(headers.get('location'), `${PATH}/${json.id}`);
    assert.deepEqual(await events(), []);
    const { id: endpoint } = await client.register(receiver.url);
    const explain = async () =>
      (await client.request('GET', `/v18.0/explain?event_id=${json.id}&endpoint_id=${endpoint}`)).json;
    const before = await explain();
    assert.equal(before.code, 'scheduled');
    assert.match(before.summary, new RegExp(`scheduled for ${json.deliver_at}`));
    // Only now: on a busy machine it would be due before anybody has looked.
    const moved = await client.request('PATCH', `${PATH}/${json.id}`, { body: { deliver_at: inSeconds(3) } });
    assert.equal(moved.status, 200, moved.text);
    const { event_id } = await sent(json.id);
    assert.ok(idTime(event_id) >= Date.parse(moved.json.deliver_at), 'not before it is due');
    const [event] = await events();
    assert.deepEqual([event.id, event.sequence > 0], [event_id, true]);
    const all = await receiver.waitFor((some) => some.some((one) => one.headers['webhook-id'] === event_id));
    assert.equal(all.find((one) => one.headers['webhook-id'] === event_id)?.body.toString(), PURCHASE);
    await until(explain, ({ code }) => code === 'delivered');
    assert.equal(
      (await client.request('DELETE', `${PATH}/${json.id}`)).json.code,
      'scheduled_event_conflict',
    );
    const late = { body: { deliver_at: inSeconds(60) } };
    assert.equal((await client.request('PATCH', `${PATH}/${json.id}`, late)).status, 409);
  });

  it('is listed, moved and cancelled until then', async () => {
    const [moved, cancelled] = [await schedule('PT1H'), await schedule('P30D')];
    const listed = async () =>
      (await client.request('GET', PATH)).json.data.map(({ id }: { id: string }) => id);
    assert.deepEqual(await listed(), [cancelled.json.id, moved.json.id]);
    assert.equal((await client.request('DELETE', `${PATH}/${cancelled.json.id}`)).status, 204);
    assert.equal((await client.request('GET', `${PATH}/${cancelled.json.id}`)).status, 404);
    const deliver_at = inSeconds(3);
    const answer = await client.request('PATCH', `${PATH}/${moved.json.id}`, { body: { deliver_at } });
    assert.deepEqual([answer.status, answer.json.deliver_at], [200, deliver_at]);
    await sent(moved.json.id);
    assert.deepEqual([await listed(), (await events()).length], [[], 1]);
  });

  it('has a place in the order of its key when it is due, and not before', async () => {
    await client.register(receiver.url, { ordering: 'key' });
    const order = { 'hookline-order-key': 'order-1' };
    const first = await schedule('60', order);
    const now = (await client.request('POST', '/v18.0/events/purchase', { raw: PURCHASE, headers: order }))
      .json;
    const soon = { body: { deliver_at: inSeconds(3) } };
    assert.equal((await client.request('PATCH', `${PATH}/${first.json.id}`, soon)).status, 200);
    const { event_id } = await sent(first.json.id);
    const all = await receiver.waitFor((some) => some.some((one) => one.headers['webhook-id'] === event_id));
    const ordersOf = (id: string) =>
      all.find((one) => one.headers['webhook-id'] === id)?.headers['webhook-order'];
    assert.match(String(ordersOf(now.id)), /^1;/);
    assert.match(String(ordersOf(event_id)), /^2;previous=1;/);
  });

  it('goes to the endpoints that it names, and to no other', async () => {
    const named = await client.register(receiver.url);
    await client.register(receiver.url);
    const { json } = await schedule('3', { 'hookline-endpoints': named.id });
    const { event_id } = await sent(json.id);
    const { deliveries } = (await client.request('GET', `/v18.0/events/${event_id}`)).json;
    assert.deepEqual(
      deliveries.map(({ endpoint_id }: { endpoint_id: string }) => endpoint_id),
      [named.id],
    );
  });

  it('is not accepted if it cannot be stored', async () => {
    const key = { 'idempotency-key': 'lost-1' };
    const lost = new mongoose.mongo.MongoNetworkError('the connection was lost');
    const { mock: insert } = mock.method(ScheduledEvents.prototype, 'insert', () => Promise.reject(lost));
    try {
      assert.equal((await schedule('PT1H', key)).status, 503);
      assert.equal(insert.callCount(), 1);
    } finally {
      insert.restore();
    }
    assert.deepEqual((await client.request('GET', PATH)).json.data, []);
    assert.equal((await schedule('PT1H', key)).status, 201);
  });

  it('is of its account alone', async () => {
    const { id } = (await schedule('PT1H')).json;
    const thief = await system.account();
    for (const method of ['GET', 'DELETE'])
      assert.equal((await thief.request(method, `${PATH}/${id}`)).status, 404);
    const key = { 'idempotency-key': 'of-both' };
    const [own, other] = [await schedule('PT1H', key), await schedule('PT1H', key, thief)];
    assert.deepEqual([own.status, other.status], [201, 201], other.text);
    assert.notEqual(own.json.id, other.json.id);
  });

  it('is the same when it is sent again with its key', async () => {
    const key = { 'idempotency-key': 'later-1' };
    const first = await schedule('PT1H', key);
    assert.deepEqual((await schedule('PT1H', key)).json, first.json);
    const other = { raw: JSON.stringify({ ...JSON.parse(PURCHASE), total: 1 }), headers: key };
    const conflict = await client.request('POST', `${PATH}/purchase?deliver_after=60`, other);
    assert.equal(conflict.json.code, 'idempotency_conflict');
  });

  it('is one event, also if the process that has begun to send it dies', async () => {
    const { id } = (await schedule('PT1H')).json;
    const { scheduled } = system.database;
    const claim = async () => {
      const found = (await scheduled.get(client.accountId, id)) ?? assert.fail();
      return (await scheduled.claim(found))?.event_id ?? assert.fail();
    };
    assert.equal(await claim(), await claim());
  });

  it('is refused for a time that is past, more than a year ahead, or none', async () => {
    const at = (time: string) => ({ 'hookline-deliver-at': time });
    const cases: [after: string, headers: Record<string, string>, parameter: string][] = [
      ['', {}, 'Hookline-Deliver-At'],
      ['60', at(inSeconds(60)), 'Hookline-Deliver-At'],
      ['', at(inSeconds(-60)), 'Hookline-Deliver-At'],
      ['', at(inSeconds(367 * 86_400)), 'Hookline-Deliver-At'],
      ['', at('tomorrow'), 'Hookline-Deliver-At'],
      ['P367D', {}, 'deliver_after'],
      ['P1Y', {}, 'deliver_after'],
    ];
    for (const [after, headers, parameter] of cases) {
      const { status, json } = await schedule(after, headers);
      assert.deepEqual(
        [status, json.errors?.[0].parameter],
        [400, parameter],
        `${after} ${JSON.stringify(headers)}`,
      );
    }
    const path = '/v18.0/events/purchase';
    const { json } = await client.request('POST', path, { raw: PURCHASE, headers: at(inSeconds(60)) });
    assert.match(
      json.detail,
      /post the event to \/scheduled_events\/purchase/,
      'it is not sent at once by mistake',
    );
  });

  it('goes when its subject is erased', async () => {
    const { id } = (await schedule('PT1H')).json;
    const erasure = await client.request('POST', '/v18.0/subjects/erase', {
      body: { subject: 'ada@example.com' },
    });
    assert.ok([200, 202].includes(erasure.status), erasure.text);
    await until(
      async () => (await client.request('GET', `${PATH}/${id}`)).status,
      (status) => status === 404,
    );
  });

  it(`is refused beyond ${MAX_SCHEDULED} of an account [world]`, async () => {
    const uri = system.environment['MONGODB_URI'] ?? '';
    const connection = await mongoose.createConnection(uri).asPromise();
    const many = Array.from({ length: MAX_SCHEDULED }, () => {
      const _id = newId('scheduled_event') as unknown as mongoose.mongo.ObjectId;
      return { _id, once: _id, account_id: client.accountId };
    });
    await connection.collection('scheduled_events').insertMany(many);
    assert.equal((await schedule('60')).json.code, 'scheduled_event_limit_reached');
    await connection.collection('scheduled_events').deleteMany({ account_id: client.accountId });
    await connection.close();
  });

  it('is sent after a restart of the service [world]', async () => {
    const first = await startSystem();
    const own = await first.account();
    await own.register(receiver.url);
    const { id } = (await schedule('3', {}, own)).json;
    await first.stop();
    const second = await startSystem(first.environment);
    const { event_id } = await until(
      async () =>
        (await (
          await fetch(`${second.url}${PATH}/${id}`, { headers: { authorization: `Bearer ${own.key}` } })
        ).json()) as Record<string, string>,
      ({ status }) => status === 'sent',
    );
    assert.ok(event_id);
    await receiver.waitFor((some) => some.some((one) => one.headers['webhook-id'] === event_id));
    await second.stop();
  });
});
