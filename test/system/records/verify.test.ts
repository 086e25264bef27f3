import assert from 'node:assert/strict';
import mongoose, { type Connection } from 'mongoose';
import { compareLog, NO_LOG_COUNTS } from '../../../src/bin/records/compare-log.js';
import { createLogSigners } from '../../../src/bin/service/log/signers.js';
import { deliveryId } from '../../../src/domain/basics/delivery-id.js';
import type { Delivery, DeliverySummary } from '../../../src/domain/view/delivery-view.js';
import type { ApiClient } from '../../support/api-client.js';
import { recorded } from '../../support/parts/records.js';
import { type StoredDocument, StoredRows, verifyRecords } from '../../support/parts/stored-rows.js';
import { type Receiver, reply, startReceiver } from '../../support/receiver.js';
import { startSystem, type TestSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

/** Deliveries of one event to so many endpoints are a group. */
const IN_GROUP = 12;

/** Forgeries of somebody who has MongoDB alone. */
const OPEN_FORGERIES: Record<string, unknown>[] = [
  { status: 'delivered' },
  { detail: '' },
  { timeline: '' },
  { sum: '' },
  { position: '2026-01-31T12:00:00.000Z' },
  { summary: '{}' },
  { record: '{}' },
  { segment: 'seg_1' },
];

/** Compares everything in a database, so it has one of its own. */
describe('hookline records verify', () => {
  let system: TestSystem;
  let receiver: Receiver;
  let client: ApiClient;
  let connection: Connection;
  let stored: StoredRows;

  before(async () => {
    system = await startSystem({ HOOKLINE_RETRY_SCHEDULE: '1h' });
    receiver = await startReceiver();
    client = await system.account();
    await client.register(receiver.url);
    connection = await mongoose.createConnection(system.environment['MONGODB_URI'] ?? '').asPromise();
    stored = new StoredRows(connection);
  });
  after(async () => {
    await connection.close();
    await receiver.close();
    await system.stop();
  });
  beforeEach(() => receiver.handle(reply(200)));

  const events = () => connection.collection<StoredDocument>('events');
  const verify = (...args: string[]) => verifyRecords(system, ...args);

  /** Some deliveries that were delivered and recorded. */
  const send = async (count = 1): Promise<Delivery[]> => {
    const sent: Delivery[] = [];
    for (let n = 0; n < count; n += 1) {
      const { deliveries } = await client.purchase();
      sent.push(await client.deliveryUntil(deliveries[0]?.id ?? '', ({ status }) => status === 'delivered'));
    }
    await recorded(
      system,
      client,
      sent.map(({ id }) => id),
    );
    return sent;
  };

  it('compares all that is recorded with the log, also what has closed in groups that go on [world]', async () => {
    await send();
    receiver.handle((request, ...rest) => reply(request.url === '/slow' ? 500 : 200)(request, ...rest));
    const other = await system.account();
    for (let n = 1; n < IN_GROUP; n++) await other.register(`${receiver.url}/good/${n}`);
    const bad = await other.register(`${receiver.url}/slow`);
    const event = await other.purchase();
    const idOf = (endpoint_id: string) => deliveryId({ event_id: event.id, endpoint_id });
    await other.deliveryUntil(idOf(bad.id), ({ status }) => status === 'retrying');
    const { data } = (await other.request('GET', `/v18.0/deliveries?event_id=${event.id}`)).json;
    const good = data.map(({ id }: DeliverySummary) => id).filter((id: string) => id !== idOf(bad.id));
    await recorded(system, other, good);
    const { found, result } = await verify();
    assert.deepEqual(found, {});
    const { deliveries, open, events, missing, leaves, changes } = result.log;
    assert.deepEqual([deliveries, open, events, missing], [IN_GROUP, 1, 2, 0]);
    assert.equal(leaves, deliveries + changes);
  });

  it('names segments that the log should have taken for long, and has not [world]', async () => {
    const { deliveries } = await client.purchase();
    const id = deliveries[0]?.id ?? '';
    await client.deliveryUntil(id, ({ status }) => status === 'delivered');
    const { _id: segment } = await until(
      async () => stored.segmentOf(await stored.copyOf(id)),
      (found) => found !== null,
    ).then((found) => found ?? assert.fail());
    const { database, settings } = system;
    const keys = await createLogSigners(settings, database).known();
    const memory = { ledger: [], copy: undefined, abandoned: undefined };
    const said = async (loggedBefore: Date) => {
      const found: string[] = [];
      const sources = { database, keys, memory, keptDays: 1, loggedBefore };
      for await (const { id, what } of compareLog(sources, { ...NO_LOG_COUNTS })) found.push(`${id} ${what}`);
      return found.filter((line) => line.startsWith(segment)).join();
    };
    assert.equal(await said(new Date(Date.now() - 60_000)), '');
    assert.match(await said(new Date(Date.now() + 60_000)), /was made at .*, and is not in the log yet/);
    await recorded(system, client, [id]);
    assert.equal(await said(new Date(Date.now() + 60_000)), '');
  });

  it('names a record in whose place an earlier one was put back, and its leaf [world]', async () => {
    const [{ id = '' } = {}] = await send();
    const first = await stored.copyOf(id);
    const second = await stored.sendAgain(system, client, id);
    assert.deepEqual((await verify()).found, {});
    await stored.restore(first);
    // It holds where it is read: it was recorded so.
    assert.equal((await client.delivery(id)).status, 'delivered');
    const { found } = await verify();
    assert.match(found[`leaf ${await stored.leafOf(second)}`] ?? '', /has no record/);
    assert.match(Object.values(found).join(), /stands in revision 1/);
    await stored.restore(second);
    assert.deepEqual((await verify()).found, {});
  });

  it('names a segment that was removed, altered, or moved to other leaves, and records in none [world]', async () => {
    const [{ id = '' } = {}] = await send();
    const segment = (await stored.segmentOf(await stored.copyOf(id))) ?? assert.fail();
    const { _id, first } = segment;
    const said = async () => (await verify()).found;
    const long_ago = new Date(Date.now() - 3_600_000);
    await stored.segments.deleteOne({ _id });
    // What was recorded a moment ago may have its segment yet.
    const leaf = `leaf ${String(first)}`;
    assert.match((await said())[leaf] ?? JSON.stringify(await said()), /has no record/);
    await stored.segments.insertOne(segment);
    for (const [changed, how] of [
      [{ at: long_ago }, /is not what was written/],
      [{ records: [`${id}/2`] }, /is not what was written/],
      [{ tag: 'none' }, /is not what was written|has a tag that cannot be checked/],
      [{ first: Number(first) + 1 }, /says that its first leaf is .*, and the log has others there/],
      [{ first: 1_000_000 }, /says that its first leaf is 1000000, and the log has others there/],
    ] as const) {
      await stored.segments.updateOne({ _id }, { $set: changed });
      assert.match((await said())[_id] ?? '', how, JSON.stringify(changed));
      assert.equal((await client.request('GET', `/v18.0/deliveries/${id}/certificate`)).status, 409);
      await stored.segments.replaceOne({ _id }, segment);
    }
    assert.deepEqual(await said(), {});
  });

  it('does not take leaves for old because MongoDB says that they are [world]', async () => {
    const [{ id = '' } = {}] = await send();
    const row = await stored.copyOf(id);
    const leaf = await stored.leafOf(row);
    const tiles = connection.collection<StoredDocument>('log_tiles');
    await tiles.updateMany({ _id: { $regex: '^0/' } }, { $set: { began_at: new Date('2024-01-01') } });
    await stored.rows.deleteOne({ _id: id });
    const { found, result } = await verify('--kept-days', '1');
    assert.match(found[`leaf ${leaf}`] ?? '', /has no record/);
    assert.equal(result.log.expired, 0);
    await stored.restore(row);
  });

  it('names what was altered, removed and added in MongoDB, and so does the API [world]', async () => {
    const sent = await send(10);
    const ids = sent.map(({ id }) => id);
    const [times = '', status = '', summary = '', account = '', detail = '', one = '', other = ''] = ids;
    const [, , , , , , , gone = '', leaf = '', payload = ''] = ids;
    const before = await Promise.all(ids.map(stored.copyOf));
    const eventOf = (id: string) => sent.find((each) => each.id === id)?.event_id ?? '';
    const payloadBefore = (await events().findOne({ _id: eventOf(payload) })) ?? assert.fail();
    const set = (id: string, fields: Record<string, unknown>) =>
      stored.rows.updateOne({ _id: id }, { $set: fields });
    const of = (id: string) => before.find(({ _id }) => _id === id) ?? assert.fail();
    const texts = (id: string) => {
      const { record, summary, segment } = of(id);
      return { record, summary, segment };
    };
    const stranger = await system.account();
    // Half a day, so that it is another hour whenever the test runs.
    const shifted = (hour: string) => `T${String((Number(hour) + 12) % 24).padStart(2, '0')}:`;
    const later = (text: unknown) => String(text).replaceAll(/T(\d\d):/g, (_, hour) => shifted(hour));
    await set(times, { record: later(of(times)['record']), summary: later(of(times)['summary']) });
    await set(status, { status: 'exhausted' });
    await set(summary, { summary: String(of(summary)['summary']).replace('delivered', 'exhausted') });
    await set(account, { account_id: stranger.accountId });
    await set(detail, { detail: of(one)['detail'] });
    await set(one, texts(other));
    await set(other, texts(one));
    await stored.rows.deleteOne({ _id: gone });
    await set(leaf, { segment: 'seg_00000000000000000000000000' });
    const sealed = `${String(payloadBefore['sealed']).slice(0, -8)}AAAAAAAA`;
    await events().updateOne({ _id: payloadBefore._id }, { $set: { sealed } });
    const forged = {
      ...of(times),
      _id: times.replace(/^dlv_../, 'dlv_00'),
      record: later(of(times)['record']),
    };
    await stored.rows.insertOne(forged);
    const invented = { ...of(times), _id: times.replace(/.$/, (last) => (last === '0' ? '1' : '0')) };
    await stored.rows.insertOne(invented);

    const { found, result } = await verify();
    const wrong = (id: string) => found[id] ?? `nothing: ${JSON.stringify(found)}`;
    assert.match(wrong(times), /is not what was written/);
    assert.match(wrong(status), /is not what was written/);
    assert.match(wrong(summary), /is not what was written/);
    assert.match(wrong(account), /is not what was written/);
    assert.match(wrong(detail), /is not what its record commits to|does not open/);
    for (const id of [one, other]) assert.match(wrong(id), /is not what was written/);
    assert.match(wrong(leaf), /is not what was written/);
    assert.match(wrong(eventOf(payload)), /does not open/);
    for (const { _id } of [invented, forged]) assert.match(wrong(_id), /is not what was written/);
    // That of the removed one, and of those whose rows have the record of another.
    const told = Object.keys(found).flatMap((id) => {
      const [, first, last = first] = /^lea\w+ (\d+)(?: to (\d+))?$/.exec(id) ?? [];
      if (first === undefined) return [];
      return Array.from({ length: Number(last) - Number(first) + 1 }, (_, at) => Number(first) + at);
    });
    const without = await Promise.all([gone, one, other].map((id) => stored.leafOf(of(id))));
    assert.deepEqual(told.sort(), without.sort());
    assert.equal(result.log.missing, without.length);

    const ask = async (path: string) => {
      const { status, json } = await client.request('GET', `/v18.0${path}`);
      return `${status} ${json?.code ?? ''} ${json?.detail ?? ''}`;
    };
    for (const id of [times, status, summary, detail, one, other, leaf]) {
      for (const path of [`/deliveries/${id}`, `/deliveries/${id}/timeline`])
        assert.match(`${path} ${await ask(path)}`, new RegExp(`409 record_altered .*${id}`));
      assert.match(
        await ask(`/explain?event_id=${eventOf(id)}&endpoint_id=${sent[0]?.endpoint_id}`),
        /^409 record_altered/,
      );
      // A list has no details, and names the first of several that were altered.
      if (id !== detail)
        for (const path of [`/deliveries?event_id=${eventOf(id)}`, `/events/${eventOf(id)}`])
          assert.match(await ask(path), /^409 record_altered /, path);
    }
    for (const id of [times, leaf])
      assert.match(await ask(`/deliveries/${id}/certificate`), new RegExp(`^409 record_altered .*${id}`));
    assert.match(
      await ask(`/events/${eventOf(payload)}`),
      new RegExp(`^409 record_altered .*${eventOf(payload)}`),
    );
    assert.match(await ask(`/deliveries/${payload}/certificate/opening`), /^409 record_altered/);
    assert.match(await ask('/deliveries'), /^409 record_altered/);
    const { text } = await client.request('GET', `/v18.0/exports?from=${sent[0]?.created_at}`);
    const lines = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const altered = lines.filter(({ type }) => type === 'altered').map((line) => line.id);
    for (const id of [times, status, summary, detail, one, other, leaf, eventOf(payload)])
      assert.ok(altered.includes(id), `${id} of ${altered}`);
    assert.ok(!text.includes('exhausted'));
    const resent = await client.request('POST', `/v18.0/deliveries/${payload}/resend`);
    assert.equal(resent.json.code, 'record_altered');
    assert.equal((await stranger.request('GET', `/v18.0/deliveries/${account}`)).json.code, 'record_altered');
    // For its own account it is as if its row were gone: nothing is told of it but what its event says.
    const { status: open, attempts } = await client.delivery(account);
    assert.deepEqual([open, attempts], ['delivering', []]);

    await stored.rows.deleteMany({ _id: { $in: [invented._id, forged._id] } });
    await Promise.all(before.map(stored.restore));
    await events().replaceOne({ _id: payloadBefore._id }, payloadBefore);
    assert.match(await ask('/deliveries'), /^200/);
    assert.deepEqual((await verify()).found, {});
  });

  it('names open deliveries that were altered, and rows that are neither open nor closed [world]', async () => {
    const other = await system.account();
    await other.register(`${receiver.url}/slow`);
    receiver.handle(reply(500));
    const ids: string[] = [];
    for (const _ of OPEN_FORGERIES) {
      const { deliveries } = await other.purchase();
      const { id } = await other.deliveryUntil(
        deliveries[0]?.id ?? '',
        ({ status }) => status === 'retrying',
      );
      ids.push(id);
    }
    const before = await Promise.all(ids.map(stored.copyOf));
    for (const [at, fields] of OPEN_FORGERIES.entries())
      await stored.rows.updateOne({ _id: ids[at] ?? '' }, { $set: fields });
    const invented = {
      ...before[0],
      _id: `dlv_${'0'.repeat(26)}_${'0'.repeat(26)}`,
      position: '2026',
      revision: 99,
    };
    await stored.rows.insertOne(invented);
    const { found } = await verify();
    assert.deepEqual(Object.keys(found).sort(), [...ids, invented._id].sort());
    for (const id of ids) {
      const { status, json } = await other.request('GET', `/v18.0/deliveries/${id}`);
      assert.deepEqual([status, json.code], [409, 'record_altered'], id);
    }
    await stored.rows.deleteOne({ _id: invented._id });
    await Promise.all(before.map(stored.restore));
    assert.deepEqual((await verify()).found, {});
  });
});
