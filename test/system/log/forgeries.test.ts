import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newSecretKey, parseSecretKeys } from '../../../src/domain/access/secret-box.js';
import { committedRecord } from '../../../src/domain/records/commitments.js';
import type { DeliveryRow } from '../../../src/domain/records/stored.js';
import type { Delivery } from '../../../src/domain/view/delivery-view.js';
import type { ApiClient } from '../../support/api-client.js';
import { type Forger, startForger } from '../../support/parts/forger.js';
import { recorded, runRecords } from '../../support/parts/records.js';
import type { StoredDocument } from '../../support/parts/stored-rows.js';
import { runHere } from '../../support/programs/command.js';
import { type Receiver, reply, startReceiver } from '../../support/receiver.js';
import type { TestSystem } from '../../support/system.js';

/** Forgeries of somebody who has MongoDB, reads the source, and knows no key. */
describe('what somebody makes up in MongoDB alone', () => {
  let forger: Forger;
  let system: TestSystem;
  let receiver: Receiver;
  let client: ApiClient;

  before(async () => {
    forger = await startForger();
    ({ system } = forger);
    receiver = await startReceiver({ handler: reply(200) });
  });
  after(async () => {
    await receiver.close();
    await forger.stop();
  });
  beforeEach(async () => {
    client = await system.account();
    await client.register(receiver.url);
  });

  const collection = (name: string) => forger.collection(name);
  const rows = () => collection('deliveries');
  const rowOf = async (id: string) => (await rows().findOne({ _id: id })) ?? assert.fail(id);
  const get = (path: string) => client.request('GET', `/v18.0${path}`);
  /** A delivery whose record the log has. */
  const send = async (): Promise<Delivery> => {
    const { deliveries } = await client.purchase();
    const delivery = await client.deliveryUntil(
      deliveries[0]?.id ?? '',
      ({ status }) => status === 'delivered',
    );
    await recorded(system, client, [delivery.id]);
    return delivery;
  };
  const said = (id: string, overrides?: Record<string, string>) => forger.said(id, overrides);

  it('is no delivery: a row of an event whose key nobody has is not logged, shown or certified', async () => {
    const sent = await send();
    const true_ = await rowOf(sent.id);
    const { records, log } = system.database;
    const before = (await records.delivery(client.accountId, sent.id)) ?? assert.fail();
    // Without details, so that it needs no key; and of an event that names a key which does not exist.
    const event = (await collection('events').findOne({ _id: sent.event_id })) ?? assert.fail();
    const event_id = `${sent.event_id.slice(0, -1)}${sent.event_id.endsWith('0') ? '1' : '0'}`;
    const id = sent.id.replace(sent.event_id.slice(4), event_id.slice(4));
    await collection('events').insertOne({
      ...event,
      _id: event_id,
      once: event_id,
      key: 'p1.AAAAAAAAAAAAAAAAAAAA.',
    });
    const closed = { ...JSON.parse(before.summary), id, event_id, status: 'exhausted', attempts: [] };
    const view: DeliveryRow = { ...before, id, event_id, summary: JSON.stringify(closed) };
    const record = committedRecord(client.accountId, { ...view, closed }, 1, undefined, undefined);
    const { detail: _, timeline: __, ...columns } = true_;
    const forged = { ...columns, _id: id, event_id, status: 'exhausted', record, summary: view.summary };
    const size = await log.size();
    for (const row of [
      { ...forged, leaf_index: -1, segment: 'seg_none' },
      { ...forged, segment: 'seg_none', tag: true_['tag'] },
      { ...forged, tag: null },
    ] as StoredDocument[]) {
      await rows().insertOne(row);
      await records.rows.adopt([{ id, segment: 'seg_none' }]);
      await runRecords(system);
      for (const path of [
        `/deliveries/${id}`,
        `/deliveries?event_id=${event_id}`,
        `/deliveries/${id}/certificate`,
      ]) {
        const { status, json } = await get(path);
        assert.deepEqual([status, json.code], [409, 'record_altered'], path);
      }
      const leaves = await log.leavesFrom(0);
      assert.equal(leaves.length, await log.size());
      assert.equal(await log.isLeaf(record, (await log.size()) - 1), false);
      if (row['tag'] === null) assert.match(await said(id), /has no tag/);
      await rows().deleteOne({ _id: id });
    }
    assert.ok((await log.size()) >= size);
    await collection('events').deleteOne({ _id: event_id });
  });

  it('is no segment, neither of records that never were nor of such as are in another [world]', async () => {
    const sent = await send();
    const segment =
      (await collection('segments').findOne({ _id: String((await rowOf(sent.id))['segment']) })) ??
      assert.fail();
    const size = await system.database.log.size();
    const forged = { ...segment, _id: 'seg_00000000000000000000000000', first: -1 };
    await collection('segments').insertOne(forged);
    await runRecords(system);
    assert.equal((await collection('segments').findOne({ _id: forged._id }))?.['first'], -1);
    assert.ok((await system.database.log.size()) <= size + 1, 'a change of the test, at most');
    assert.match(await said(forged._id), /is not what was written/);
    await collection('segments').deleteOne({ _id: forged._id });
  });

  for (const [what, fields] of Object.entries({
    'its status': { status: 'exhausted' },
    'what its latest attempt came to': { status_code: 500 },
    'its place in lists': { position: '2020-01-01T00:00:00.000Z 00000000-0000-0000-0000-000000000000 99' },
    'its run': { run_id: 'another' },
    'how often it was told of': { turn: 2_999 },
    'its revision': { revision: 7 },
    'its keys': { keys: 'k:forged' },
    'when it goes': { expires_at: new Date('2999-01-01') },
    'when it was kept': { kept_at: new Date('2020-01-01') },
    'a text in the place of a time': { accepted_at: '2026-01-01T00:00:00.000Z' },
  }))
    it(`is not believed of a row: ${what}`, async () => {
      const { id, event_id } = await send();
      await rows().updateOne({ _id: id }, { $set: fields });
      for (const path of [`/deliveries/${id}`, `/deliveries?event_id=${event_id}`]) {
        const { status, json } = await get(path);
        assert.deepEqual([status, json.code], [409, 'record_altered'], path);
      }
      await rows().deleteOne({ _id: id });
    });

  it('is not said by a record: another number of the event, from which its payload was taken', async () => {
    const [{ event_id }, other] = [await send(), await send()];
    const event = { _id: event_id };
    const taken = { sealed: 1, payload_expires_at: 1 } as const;
    await collection('events').updateOne(event, { $set: { sequence: 5 }, $unset: taken });
    const database = await forger.another();
    try {
      const found = await database.records.rows.eventsOf([event_id, other.event_id]);
      assert.match(String(found.get(event_id)), /is not what was written/);
      assert.equal((found.get(other.event_id) as { event_id: string }).event_id, other.event_id);
    } finally {
      await database.close();
    }
    await collection('events').deleteOne(event);
  });

  it('is no void: the number of an event that was taken away stays open [world]', async () => {
    await send();
    const { event_id } = await send();
    assert.equal((await get('/sequence')).json.missing_count, 0);
    await collection('events').deleteOne({ _id: event_id });
    /** Its process has the rest of the block yet. */
    const open = [{ first: 2, last: 4 }];
    const isOpen = async () => {
      const { json } = await get('/sequence');
      assert.deepEqual([json.complete, json.open, json.void_count], [false, open, 0]);
    };
    await isOpen();
    const id = `${client.accountId}:2`;
    const numbers = { account_id: client.accountId, first: 2, last: 2, at: new Date() };
    for (const more of [{ in_log: false }, { in_log: false, tag: 'k:00' }, { in_log: true, leaf_index: 0 }]) {
      await collection('sequence_voids').insertOne({ _id: id, ...numbers, ...more });
      await runRecords(system);
      await isOpen();
      assert.equal((await get('/sequence/void/2/certificate')).status, 404);
      assert.match(await said(`void numbers ${id}`), /has no tag|is not what was written|cannot be checked/);
      await collection('sequence_voids').deleteOne({ _id: id });
    }
  });

  it('is no erasure: a delivery whose data key was taken away is altered, and one that was erased is not', async () => {
    const sent = await send();
    const keyed = { account_id: client.accountId };
    const keys = await collection('data_keys').find(keyed).toArray();
    assert.ok(keys.length > 0);
    await collection('data_keys').deleteMany(keyed);
    // A process that has never seen the keys.
    const fresh = async () => {
      const database = await forger.another();
      try {
        return await database.records.stored(client.accountId, sent.id);
      } finally {
        await database.close();
      }
    };
    assert.match((await fresh())?.altered?.message ?? '', /a data key that is gone, and was not erased/);
    for (const { key_id } of keys) {
      const _id = String(key_id);
      const forged = { _id, account_id: client.accountId, erased_at: new Date(), tag: 'none' };
      await collection('erased_data_keys').insertOne(forged);
    }
    assert.match((await fresh())?.altered?.message ?? '', /a data key that is gone, and was not erased/);
    await collection('erased_data_keys').deleteMany(keyed);
    await collection('data_keys').insertMany(keys);
    assert.equal((await fresh())?.altered, undefined);
    await system.database.dataKeys.eraseAll(client.accountId);
    const erased = (await fresh()) ?? assert.fail();
    assert.deepEqual([erased.altered, erased.recorded.detail], [undefined, undefined]);
  });

  it('is no address: an endpoint is compared with its last change [world]', async () => {
    const { id } = await client.register(`${receiver.url}/true`);
    await client.request('PATCH', `/v18.0/endpoints/${id}`, { body: { description: 'once more' } });
    assert.equal(await said(`endpoint:${id}`), '');
    await collection('endpoints').updateOne({ _id: id }, { $set: { target_url: 'https://forged.example/' } });
    assert.match(
      await said(`endpoint:${id}`),
      /differs in \/target_url from what its last change made of it/,
    );
    await client.request('DELETE', `/v18.0/endpoints/${id}`);
  });

  it('is no log without its checkpoint, or with an emptied tile [world]', async () => {
    await send();
    const head = (await collection('log_heads').findOne({ _id: 'head' })) ?? assert.fail();
    await collection('log_heads').deleteOne({ _id: 'head' });
    assert.match(await said('the log'), /would not be signed: .*checkpoint_missing/);
    await collection('log_heads').insertOne(head);
    const tile = (await collection('log_tiles').findOne({ _id: '0/0' })) ?? assert.fail();
    await collection('log_tiles').updateOne({ _id: '0/0' }, { $set: { hashes: Buffer.alloc(0) } });
    assert.match(await said('the log'), /would not be signed: .*leaves_missing/);
    await collection('log_tiles').replaceOne({ _id: '0/0' }, tile);
    assert.equal(await said('the log'), '');
  });

  it('is no smaller log, if Temporal has forgotten: the copy outside knows the larger one [world]', async () => {
    const [heads, tiles] = [collection('log_heads'), collection('log_tiles')];
    const headNow = async () => (await heads.findOne({ _id: 'head' })) ?? assert.fail();
    const put = async (head: StoredDocument, all: StoredDocument[]) => {
      await tiles.deleteMany({});
      await tiles.insertMany(all);
      await heads.replaceOne({ _id: 'head' }, head);
    };
    await send();
    const before = [await headNow(), await tiles.find().toArray()] as const;
    await send();
    const after = [await headNow(), await tiles.find().toArray()] as const;
    assert.ok(Number(after[0]['size']) > Number(before[0]['size']));
    const folder = await mkdtemp(join(tmpdir(), 'hookline-copy-'));
    const copy = join(folder, 'checkpoint');
    await writeFile(copy, String(after[0]['note']));
    await put(...before);
    // Temporal has nothing for another task queue.
    const forgotten = { HOOKLINE_TASK_QUEUE: `${system.environment['HOOKLINE_TASK_QUEUE']}x` };
    assert.doesNotMatch(await said('the log', forgotten), /would not be signed/);
    assert.match(
      await said('the log', { ...forgotten, HOOKLINE_LOG_COPY: copy }),
      new RegExp(`would not be signed: .*${after[0]['size']} records.*leaves_missing`),
    );
    await put(...after);
    assert.equal(await said('the log', { ...forgotten, HOOKLINE_LOG_COPY: copy }), '');
    await rm(folder, { recursive: true });
  });

  // The last one: what the system reads has tags of a key that it does not know afterwards.
  it('does not become right when the key is changed, and what is right stays so without the old key', async () => {
    const [sent, forged] = [await send(), await send()];
    await rows().updateOne({ _id: forged.id }, { $set: { status: 'exhausted' } });
    const { environment, settings } = system;
    const fresh = newSecretKey();
    const keys = `${fresh},${environment['HOOKLINE_SECRET_KEYS']}`;
    const reseal = () => runHere('reseal', { ...environment, HOOKLINE_SECRET_KEYS: keys });
    assert.match(await reseal(), /^Records .* tagged again: [1-9]\d*$/m);
    assert.match(await reseal(), /^Records .* tagged again: 0$/m);
    const rotated = { ...settings, HOOKLINE_SECRET_KEYS: parseSecretKeys(fresh) };
    const database = await forger.another(rotated);
    try {
      const { records } = database;
      assert.equal((await records.delivery(client.accountId, sent.id))?.id, sent.id);
      assert.ok((await records.record(client.accountId, sent.id))?.leafIndex !== undefined);
      assert.equal((await records.event(client.accountId, sent.event_id))?.id, sent.event_id);
      assert.ok((await database.sequences.numbersOf(client.accountId))?.next);
      await assert.rejects(records.delivery(client.accountId, forged.id), { name: 'RecordAlteredError' });
    } finally {
      await database.close();
    }
  });
});
