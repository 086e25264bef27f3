import assert from 'node:assert/strict';
import mongoose from 'mongoose';
import { requireBoxes } from '../../../src/bin/process/secrets.js';
import { newId } from '../../../src/domain/basics/ids.js';
import { namedEvent } from '../../../src/domain/delivery/delivery.js';
import { storableEvent } from '../../../src/domain/delivery/sealed-event.js';
import type { EventToStore } from '../../../src/domain/delivery/stored-event.js';
import { parseKeptDays } from '../../../src/domain/records/kept-days.js';
import { EventRepository } from '../../../src/models/event/events.js';
import { PURCHASE } from '../../support/api-client.js';
import { sharedSystem } from '../../support/system.js';

describe('stored events', () => {
  let system: Awaited<ReturnType<typeof sharedSystem>>;
  let connection: mongoose.Connection;
  let events: EventRepository;
  const accountId = newId('account');
  before(async () => {
    system = await sharedSystem();
    connection = await mongoose.createConnection(system.environment['MONGODB_URI'] ?? '').asPromise();
    const days = parseKeptDays('1');
    events = new EventRepository(
      connection,
      { records: days, payloads: days },
      requireBoxes(system.settings).box,
    );
  });
  after(() => connection.close());

  async function event(more: Partial<EventToStore> = {}): Promise<EventToStore> {
    const accepted = {
      account_id: accountId,
      event_id: newId('event'),
      event_kind: 'purchase',
      payload: PURCHASE,
      accepted_at: new Date().toISOString(),
      sequence: 7,
    };
    const storable = await storableEvent(system.sealer, accepted, undefined);
    return { ...storable, targets: [], carriers: [], starter: newId('starter'), ...more };
  }
  const idsOf = (found: readonly { event: { event_id: string } }[]) => found.map((one) => one.event.event_id);

  it('with an idempotency key that was used before are not stored; the one that has it is told', async () => {
    const first = await event({
      once: { key: 'order-1', body_hash: 'a' },
      targets: [{ endpoint_id: 'ep_1' }],
    });
    const other = await event();
    const again = await event({ once: { key: 'order-1', body_hash: 'b' } });
    assert.deepEqual(await events.insert([first]), [undefined]);
    const [kept, stored] = await events.insert([again, other]);
    assert.equal(stored, undefined);
    assert.deepEqual(kept, {
      event_id: first.event.event_id,
      accepted_at: first.event.accepted_at,
      sequence: 7,
      targets: [{ endpoint_id: 'ep_1' }],
      body_hash: 'a',
    });
    const asked = [first, again, other].map((one) => one.event.event_id);
    assert.deepEqual([...(await events.stored(asked))].sort(), [asked[0], asked[2]].sort());
  });

  it('with one key twice at the same time: one of them is stored', async () => {
    const both = await Promise.all(
      [1, 2, 3, 4].map(() => event({ once: { key: 'order-2', body_hash: 'a' } })),
    );
    const outcomes = await Promise.all([events.insert(both.slice(0, 2)), events.insert(both.slice(2))]);
    const kept = outcomes.flat();
    assert.equal(kept.filter((one) => one === undefined).length, 1);
    const winner = both[kept.indexOf(undefined)]?.event.event_id;
    assert.deepEqual([...new Set(kept.flatMap((one) => one?.event_id ?? []))], [winner]);
  });

  it('together are stored by others, if their process is killed in between', async () => {
    const [starter, killed] = [
      newId('starter'),
      await mongoose.createConnection(system.environment['MONGODB_URI'] ?? '').asPromise(),
    ];
    const days = parseKeptDays('1');
    const { box } = requireBoxes(system.settings);
    const dying = new EventRepository(killed, { records: days, payloads: days }, box);
    const { collection } = killed.model('events');
    const write = collection.bulkWrite.bind(collection);
    collection.bulkWrite = (async (operations: []) => {
      await write(operations.slice(0, 1));
      throw new Error('killed');
    }) as unknown as typeof write;
    const together = await Promise.all([1, 2, 3].map(() => event({ starter })));
    const ids = together.map((one) => one.event.event_id);
    await assert.rejects(dying.insertTogether(together), /killed/);
    await killed.close();
    assert.equal((await events.stored(ids)).size, 1, 'some of them, for the moment');
    const found: string[] = [];
    for await (const some of events.ofStarter(starter, Date.now() - 60_000)) found.push(...idsOf(some));
    assert.deepEqual(found.sort(), ids.sort());
    assert.equal(await connection.collection('event_batches').countDocuments(), 0);
  });

  it('together are all stored, or none: what a process is not sure of, it looks for', async () => {
    const days = parseKeptDays('1');
    const own = await mongoose.createConnection(system.environment['MONGODB_URI'] ?? '').asPromise();
    const unsure = new EventRepository(
      own,
      { records: days, payloads: days },
      requireBoxes(system.settings).box,
    );
    const together = await Promise.all([1, 2].map(() => event()));
    const ids = together.map((one) => one.event.event_id);
    for (const [name, stored] of [
      ['event_batches', 0],
      ['events', 2],
    ] as const) {
      const { collection } = own.model(name);
      const write = collection.bulkWrite.bind(collection);
      collection.bulkWrite = (async () => {
        throw new Error('no answer');
      }) as unknown as typeof write;
      await assert.rejects(unsure.insertTogether(together), /no answer/);
      collection.bulkWrite = write;
      assert.equal((await unsure.stored(ids)).size, stored, name);
    }
    await own.close();
  });

  it('that are written twice by one call are their own', async () => {
    const one = await event({ carriers: ['grp_1'], targets: [{ endpoint_id: 'ep_1', carrier: 0 }] });
    assert.deepEqual(await events.insert([one]), [undefined]);
    assert.deepEqual(await events.insert([one]), [undefined]);
    const planned = await events.insert([{ ...one, carriers: ['grp_2'] }]);
    assert.equal(planned[0]?.event_id, one.event.event_id, 'it is started as the first call has planned it');
  });

  it('are found by the group that carries them, and by the process that was to start them', async () => {
    const [carrier, starter] = [newId('group'), newId('starter')];
    const targets = [{ endpoint_id: 'ep_1', schedule: [1_000], carrier: 0 }, { endpoint_id: 'ep_2' }];
    const carried = await event({ carriers: [carrier], targets, starter });
    const other = await event({ starter });
    await events.insert([carried, other, await event()]);
    const [found] = await events.carriedBy(carrier);
    assert.deepEqual([found?.targets, found?.carriers], [targets, [carrier]]);
    assert.deepEqual(found?.event, namedEvent(carried.event));
    const started: string[] = [];
    for await (const some of events.ofStarter(starter, Date.now() - 60_000)) started.push(...idsOf(some));
    assert.deepEqual(started.sort(), idsOf([carried, other]).sort());
    for await (const some of events.ofStarter(starter, Date.now() + 60_000)) assert.deepEqual(some, []);
  });

  it('that somebody has altered in the database are started by nobody, and shown to nobody', async () => {
    const starter = newId('starter');
    const altered: Record<string, Record<string, unknown>> = {
      'another endpoint': { targets: [{ endpoint_id: 'ep_another' }] },
      'another number': { sequence: 8 },
      'another account': { account_id: newId('account') },
      'another key': { once: `${accountId}:order-3` },
      'no tag': { tag: null },
    };
    for (const [what, $set] of Object.entries(altered)) {
      const one = await event({ starter, targets: [{ endpoint_id: 'ep_1' }] });
      await events.insert([one]);
      const { event_id } = one.event;
      const owner = String($set['account_id'] ?? accountId);
      assert.ok(await events.find(event_id), what);
      await connection.collection<{ _id: string }>('events').updateOne({ _id: event_id }, { $set: $set });
      assert.equal(await events.find(event_id), undefined, what);
      await assert.rejects(
        system.database.records.event(owner, event_id),
        { name: 'RecordAlteredError' },
        what,
      );
      await assert.rejects(system.database.records.events(owner, {}, 10, undefined), what);
      await connection.collection<{ _id: string }>('events').deleteOne({ _id: event_id });
    }
    for await (const some of events.ofStarter(starter, 0)) assert.deepEqual(some, []);
  });
});
