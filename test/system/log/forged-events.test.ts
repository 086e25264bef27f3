import assert from 'node:assert/strict';
import { newId } from '../../../src/domain/basics/ids.js';
import { OPERATOR } from '../../../src/domain/change/change.js';
import { keyNameOf } from '../../../src/domain/privacy/data-key.js';
import { type ApiClient, PURCHASE } from '../../support/api-client.js';
import { type Forger, startForger } from '../../support/parts/forger.js';
import { recorded, runRecords } from '../../support/parts/records.js';
import type { StoredDocument } from '../../support/parts/stored-rows.js';
import { type Receiver, reply, startReceiver } from '../../support/receiver.js';
import type { TestSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

const ADA = { username: 'ada', name: 'Ada Lovelace', followers_count: 1815 };

/** Forgeries of somebody who has MongoDB, reads the source, and knows no key, and would have Hookline send them. */
describe('what is sent, if somebody makes something up in MongoDB', () => {
  let forger: Forger;
  let system: TestSystem;
  let receiver: Receiver;
  let client: ApiClient;

  before(async () => {
    forger = await startForger();
    ({ system } = forger);
  });
  after(() => forger.stop());
  beforeEach(async () => {
    receiver = await startReceiver();
    client = await system.account();
  });
  afterEach(() => receiver.close());

  const collection = (name: string) => forger.collection(name);
  const get = (path: string) => client.request('GET', `/v18.0${path}`);
  const received = async (count: number) =>
    (await receiver.waitFor((all) => all.length >= count)).map(({ body }) => JSON.parse(String(body)));
  const said = (id: string) => forger.said(id);
  const refusals = async (reason: string) => {
    const metrics = await (await fetch(`${system.url}/metrics`)).text();
    return Number(new RegExp(`hookline_log_refusals_total{reason="${reason}"} (\\d+)`).exec(metrics)?.[1]);
  };
  const another = () => forger.another();

  describe('is of changes of profiles', () => {
    let profile: string;
    beforeEach(async () => {
      profile = (await client.request('POST', '/v18.0/profiles', { body: ADA })).json.id;
      await client.register(receiver.url, { event_kinds: ['profile.updated'], include_values: true });
    });
    const replace = (followers_count: number) =>
      client.request('PUT', `/v18.0/profiles/${profile}`, { body: { ...ADA, followers_count } });
    const told = async (count: number) =>
      (await received(count)).map(({ changes }) => changes.followers_count.new);

    it('none that was put into the profile', async () => {
      await replace(1816);
      assert.deepEqual(await told(1), [1816]);
      const resource = `profile:${profile}`;
      const change = (await collection('changes').findOne({ resource, action: 'updated' })) ?? assert.fail();
      const after = String(change['after']).replace('1816', '1000000');
      const forged = [{}, { tag: null }, { tag: 'k:00' }].map((more) => ({
        ...{ ...change, _id: newId('change'), at: new Date(), after, in_log: false },
        ...more,
      }));
      const put = { unrecorded: forged, unrecorded_since: new Date() };
      await collection('profiles').updateOne({ _id: profile }, { $set: put });
      // Reading changes moves them, as each process does once a minute.
      assert.deepEqual((await get('/changes')).json.code, 'record_altered');
      await replace(1817);
      assert.deepEqual(await told(2), [1816, 1817]);
      await runRecords(system);
      await until(
        () => refusals('change_altered'),
        (count) => count >= forged.length,
      );
      for (const { _id } of forged) {
        assert.match(await said(_id), /has no tag|is not what was written|cannot be checked/);
        await collection('changes').deleteOne({ _id });
      }
    });

    it('those that were made, if they are altered before they are told', async () => {
      const database = await another();
      try {
        const { profile: before, version } = (await database.profiles.find(profile)) ?? assert.fail();
        const { id: _, account_id: __, created_at: ___, updated_at: ____, ...input } = before;
        const changed = { ...input, followers_count: 1816 };
        await database.profiles.replace(client.accountId, profile, changed, version, OPERATOR);
      } finally {
        await database.close();
      }
      const { unrecorded } = (await collection('profiles').findOne({ _id: profile })) ?? assert.fail();
      const [change = assert.fail()] = unrecorded as { after: string }[];
      const altered = { 'unrecorded.0.after': change.after.replace('1816', '1000000') };
      await collection('profiles').updateOne({ _id: profile }, { $set: altered });
      await get('/changes');
      assert.deepEqual(await told(1), [1816]);
    });
  });

  it('is of no end that a delivery never had', async () => {
    const failing = await startReceiver({ handler: reply(500) });
    try {
      await client.register(receiver.url, { event_kinds: ['delivery.exhausted', 'delivery.expired'] });
      await client.register(failing.url, { retry_schedule: [] });
      const send = async (status: string) => {
        const [{ id = '' } = {}] = (await client.purchase()).deliveries;
        await client.deliveryUntil(id, (delivery) => delivery.status === status);
        return id;
      };
      const [first, altered] = [await send('exhausted'), await send('exhausted')];
      failing.handle(reply(200));
      const delivery_id = await send('delivered');
      const ends = collection('unannounced_ends');
      const { tag, ...untagged } = (await ends.findOne({ delivery_id: first })) ?? assert.fail();
      const forged: StoredDocument[] = [
        { ...untagged, tag, _id: `${delivery_id}:1`, delivery_id },
        { ...untagged, _id: `${delivery_id}:2`, delivery_id },
        { ...untagged, _id: `${delivery_id}:3`, delivery_id, kind: 'delivery.expired', tag: 'k:00' },
        { ...untagged, tag, _id: `${delivery_id}:4`, delivery_id, notice: '00', notice_at: new Date(0) },
      ];
      await ends.insertMany(forged);
      await ends.updateOne({ delivery_id: altered }, { $set: { kind: 'delivery.expired' } });
      await runRecords(system);
      failing.handle(reply(500));
      const last = await send('exhausted');
      await recorded(system, client, [last]);
      const named = (await received(2)).flatMap(({ deliveries }) =>
        deliveries.map((one: { delivery_id: string }) => one.delivery_id),
      );
      assert.deepEqual(named, [first, last]);
      await until(
        () => refusals('end_altered'),
        (count) => count === forged.length + 1,
      );
      for (const { _id } of forged)
        assert.match(await said(`end ${_id}`), /has no tag|is not what was written|cannot be checked/);
      await ends.deleteMany({ account_id: client.accountId });
    } finally {
      await failing.close();
    }
  });

  it('is no other payload than that of an event', async () => {
    await client.register(receiver.url);
    const { id: event_id } = await client.purchase();
    const events = collection('events');
    const { sealed } = (await events.findOne({ _id: event_id })) ?? assert.fail();
    // Nobody without the key can seal it, and a text may stand there as it is.
    const forged = keyNameOf(String(sealed)) + JSON.stringify({ forged: true });
    await events.updateOne({ _id: event_id }, { $set: { sealed: forged } });
    const database = await another();
    try {
      const payload = () => database.payloads.of({ account_id: client.accountId, event_id });
      await assert.rejects(payload(), /another one than it commits to/);
      await events.updateOne({ _id: event_id }, { $set: { sealed } });
      assert.equal(typeof (await payload()), 'string');
    } finally {
      await database.close();
    }
  });

  it('is nothing erased: an event without its payload, or without its key, is altered', async () => {
    await client.register(receiver.url);
    const { id: event_id } = await client.purchase();
    const { accountId: account_id } = client;
    const [events, keys] = [collection('events'), collection('data_keys')];
    const event = (await events.findOne({ _id: event_id })) ?? assert.fail();
    const key = (await keys.findOne({ account_id })) ?? assert.fail();
    /** As a process has it that remembers nothing. */
    const isNamed = async (how: RegExp) => {
      const database = await another();
      try {
        const named = { name: 'RecordAlteredError', message: how };
        await assert.rejects(database.payloads.of({ account_id, event_id }), named);
        return await database.records.eventsOf(account_id, [event_id]);
      } finally {
        await database.close();
      }
    };
    await events.updateOne({ _id: event_id }, { $unset: { sealed: 1 } });
    const shown = await isNamed(/has no payload any more, which was neither erased/);
    assert.match(shown.get(event_id)?.altered?.message ?? '', /has no payload any more/);
    await events.updateOne({ _id: event_id }, { $unset: { sealed: 1, payload_expires_at: 1 } });
    await isNamed(/has no payload any more, which was neither erased/);
    await events.replaceOne({ _id: event_id }, event);
    await keys.deleteOne({ _id: key._id });
    const sealed = await isNamed(/a data key that is gone, and was not erased/);
    assert.match(sealed.get(event_id)?.altered?.message ?? '', /a data key that is gone/);
    await keys.insertOne(key);
  });

  it('is said of an open delivery: people are told, it is not cancelled, and goes on when the payload is back [world]', async () => {
    receiver.handle(reply(500));
    const { id: endpoint } = await client.register(receiver.url);
    const { id: _id, deliveries } = await client.purchase();
    const id = deliveries[0]?.id ?? '';
    await client.deliveryUntil(id, ({ status }) => status === 'retrying');
    const events = collection('events');
    const event = (await events.findOne({ _id })) ?? assert.fail();
    const before = await refusals('event_altered');
    await events.updateOne({ _id }, { $unset: { sealed: 1 } });
    const retry = () => client.request('POST', `/v18.0/deliveries/${id}/retry`);
    // A process remembers for seconds what it has just opened.
    await until(
      async () => {
        await retry();
        return refusals('event_altered');
      },
      (count) => count > before,
    );
    assert.notEqual((await client.delivery(id)).status, 'cancelled');
    const { json: verdict } = await get(`/explain?endpoint_id=${endpoint}&event_id=${_id}`);
    assert.equal(verdict.code, 'event_altered');
    assert.ok(verdict.summary.includes(`${_id} has no payload any more`), verdict.summary);
    await events.replaceOne({ _id }, event);
    receiver.handle(reply(200));
    await until(
      async () => {
        await retry();
        return client.delivery(id);
      },
      ({ status }) => status === 'delivered',
    );
  });

  it('is each event, though somebody gave its idempotency key to another one', async () => {
    await client.register(receiver.url);
    const post = (key: string) => {
      const headers = { 'idempotency-key': key };
      return client.request('POST', '/v18.0/events/purchase', { raw: PURCHASE, headers });
    };
    const { id: _id } = (await post('order-76')).json;
    const events = collection('events');
    const stored = (await events.findOne({ _id })) ?? assert.fail();
    const key = 'order-77';
    await events.updateOne({ _id }, { $set: { once: `${client.accountId}:${key}` } });
    const { status, json } = await post(key);
    assert.deepEqual([status, json.code], [409, 'record_altered'], JSON.stringify(json));
    assert.match(json.detail, new RegExp(`${_id} is not what was written`));
    const event = { kind: 'purchase', payload: JSON.parse(PURCHASE) };
    for (const [mode, found] of [
      ['each', [409, 202]],
      ['all_or_nothing', 409],
    ] as const) {
      const body = { mode, events: [{ ...event, idempotency_key: key }, event] };
      const { status, json } = await client.request('POST', '/v18.0/events', { body });
      const results = json.results?.map((one: { status: number }) => one.status);
      assert.deepEqual(results ?? status, found, JSON.stringify(json));
    }
    await events.replaceOne({ _id }, stored);
    assert.equal((await post(key)).status, 202);
    await received(3);
  });

  it('is no other payload than that of a scheduled event', async () => {
    await client.register(receiver.url);
    const scheduled = collection('scheduled_events');
    const schedule = async (order_id: string, after: string) => {
      const path = `/v18.0/scheduled_events/purchase?deliver_after=${after}`;
      const body = { ...JSON.parse(PURCHASE), order_id };
      return String((await client.request('POST', path, { body })).json.id);
    };
    const _id = await schedule('altered', 'PT3S');
    const { sealed } = (await scheduled.findOne({ _id })) ?? assert.fail();
    const forged = keyNameOf(String(sealed)) + PURCHASE.replace('order-1', 'forged');
    await scheduled.updateOne({ _id }, { $set: { sealed: forged } });
    await schedule('later', 'PT5S');
    const orders = (await received(1)).map(({ order_id }) => order_id);
    assert.deepEqual(orders, ['later']);
    await scheduled.deleteOne({ _id });
  });

  it('and done is what was asked for: replays, scheduled events and reasons are refused if they are altered', async () => {
    const { replays, privateInputs } = system.database;
    const replay = (await client.request('POST', '/v18.0/replays', { body: { mode: 'failed' } })).json.id;
    await until(
      () => replays.get(client.accountId, replay),
      (found) => found?.end !== undefined,
    );
    const at = '/v18.0/scheduled_events/purchase?deliver_after=PT1H';
    const scheduled = (await client.request('POST', at, { raw: PURCHASE })).json.id;
    const input = await privateInputs.keepFrom({ address: '203.0.113.7', reason: 'as agreed' });
    for (const [name, _id, read, forged] of [
      ['replays', replay, () => replays.get(client.accountId, replay), { position: '2020' }],
      ['replays', replay, () => replays.get(client.accountId, replay), { end: '{}' }],
      [
        'scheduled_events',
        scheduled,
        () => system.database.scheduled.get(client.accountId, scheduled),
        { due_at: new Date() },
      ],
      ['private_inputs', input, () => privateInputs.fromOf(input), { text: '{"reason":"forged"}' }],
    ] as const) {
      assert.ok(await read());
      const document = (await collection(name).findOne({ _id })) ?? assert.fail();
      await collection(name).updateOne({ _id }, { $set: forged });
      await assert.rejects(read(), { name: 'RecordAlteredError' }, `${name} ${Object.keys(forged)}`);
      await collection(name).replaceOne({ _id }, document);
    }
    for (const path of [`/replays/${replay}`, '/replays', `/scheduled_events/${scheduled}`])
      assert.equal((await get(path)).status, 200);
  });
});
