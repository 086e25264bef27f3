import assert from 'node:assert/strict';
import mongoose, { type Connection } from 'mongoose';
import { pino } from 'pino';
import { requireBoxes } from '../../../src/bin/process/secrets.js';
import { compareLog, NO_LOG_COUNTS } from '../../../src/bin/records/compare-log.js';
import { compareVersions } from '../../../src/bin/records/compare-versions.js';
import { createLogSigners } from '../../../src/bin/service/log/signers.js';
import { createLogWriter } from '../../../src/bin/service/log/writer.js';
import { auditNumbers } from '../../../src/bin/service/sequence/number-audit.js';
import { createRestoreWatch } from '../../../src/bin/service/sequence/restore-watch.js';
import { ChangeSeal } from '../../../src/models/change/change-seal.js';
import type { Database } from '../../../src/models/database.js';
import { EventSeal } from '../../../src/models/event/event-document.js';
import { contentOfSegment } from '../../../src/models/log/segments.js';
import { COLLECTIONS } from '../../../src/models/mongo/collection.js';
import { Tags } from '../../../src/models/mongo/tags.js';
import { contentOfEnd } from '../../../src/models/records/ends.js';
import { RowTags } from '../../../src/models/records/row-tags.js';
import { contentOfRestore } from '../../../src/models/sequence/restores.js';
import { contentOfHolder, contentOfSequence } from '../../../src/models/sequence/sequence-documents.js';
import { contentOfVoid } from '../../../src/models/sequence/void-numbers.js';
import type { ApiClient } from '../../support/api-client.js';
import { recorded } from '../../support/parts/records.js';
import { type Receiver, startReceiver } from '../../support/receiver.js';
import { startSystem, type TestSystem } from '../../support/system.js';

interface Stored {
  _id: unknown;
  [field: string]: unknown;
}

/** Beyond what a `Date` can be: MongoDB has 64 bits for a time, and the driver writes what this says. */
const TOO_FAR = Object.assign(new Date(0), { getTime: () => 9e15 });
const MISSING = Symbol('missing');
/** Values that somebody could write, of other types than most fields have. */
const VALUES: Record<string, unknown> = {
  text: 'other',
  'half a character in JSON': '{"name":"\\ud800"}',
  number: 7,
  'a huge number': 1e300,
  boolean: true,
  null: null,
  missing: MISSING,
  list: ['a'],
  'list of nothing': [null],
  object: { a: { b: 1 } },
  'the last time': new Date(8.64e15),
  'a time that is too far': TOO_FAR,
};
const OF_TYPE: Record<string, readonly string[]> = {
  String: ['text', 'half a character in JSON'],
  Number: ['number', 'a huge number'],
  Boolean: ['boolean'],
  Date: ['the last time'],
  Mixed: Object.keys(VALUES),
};

// A system of its own: all that is stored is read, and much of it is altered. A thousand documents take their seconds.
describe('a value of another type that somebody has written into MongoDB [world]', () => {
  let system: TestSystem;
  let receiver: Receiver;
  let client: ApiClient;
  let connection: Connection;
  let database: Database;
  /** Altered documents, by the id under which they are to be named, and how each was altered. */
  const altered = new Map<string, string>();

  const collection = (name: string) => connection.collection<Stored>(name);
  const one = async (name: string) => (await collection(name).findOne({})) ?? assert.fail(name);

  before(async () => {
    system = await startSystem();
    ({ database } = system);
    connection = await mongoose.createConnection(system.environment['MONGODB_URI'] ?? '').asPromise();
    receiver = await startReceiver();
    client = await system.account();
    await client.register(receiver.url);
    const { id: event_id, deliveries: sent } = await client.purchase();
    const [{ id = '', endpoint_id = '' } = {}] = sent;
    await client.deliveryUntil(id, ({ status }) => status === 'delivered');
    await recorded(system, client, [id]);
    const { accountId: account_id } = client;
    await database.sequences.voids.declare(account_id, [{ first: 90_000, last: 90_001 }]);
    await database.sequences.restores.note('log:1', 'as a test has it');
    const end = { account_id, endpoint_id, kind: 'delivery.exhausted', event_id, event_kind: 'purchase' };
    const ended = { closed_at: new Date(), run_id: 'run', delivery_id: id };
    await database.ends.note([{ ...end, ...ended } as never]);
    await writeAltered();
  });
  after(async () => {
    await connection.close();
    await receiver.close();
    await system.stop();
  });

  /** Copies of documents of each tagged collection, each with its own tag, and with one field altered afterwards. */
  async function writeAltered(): Promise<void> {
    const { box } = requireBoxes(system.settings);
    const tagOf = (purpose: string, contentOf: (document: never) => string) => {
      const tags = new Tags(box, purpose, { fields: {} }, contentOf as never);
      return (document: Stored) => tags.tag(document as never);
    };
    const [seal, eventSeal, rowTags] = [new ChangeSeal(box), new EventSeal(box), new RowTags(box)];
    const kinds: [string, (document: Stored) => string | undefined, (id: string) => string][] = [
      ['changes', (document) => seal.tag(document as never), (id) => id],
      ['events', (document) => eventSeal.tag(document as never), (id) => id],
      ['deliveries', (document) => rowTags.tagged(document as never)['tag'], (id) => id],
      ['segments', tagOf('segment', contentOfSegment), (id) => id],
      ['sequence_voids', tagOf('void', contentOfVoid), (id) => `void numbers ${id}`],
      ['sequences', tagOf('sequence', contentOfSequence), (id) => `the sequence of ${id}`],
      ['sequence_holders', tagOf('sequence holder', contentOfHolder), (id) => `the holder of numbers ${id}`],
      ['sequence_restores', tagOf('restore', contentOfRestore), (id) => `the restore ${id}`],
      ['unannounced_ends', tagOf('end', contentOfEnd), (id) => `end ${id}`],
    ];
    for (const [name, tag, named] of kinds) {
      const original = await one(name);
      const schema = COLLECTIONS.get(name) ?? assert.fail(name);
      const copies: Stored[] = [];
      let number = 1_000;
      const fields = Object.values(schema.paths).filter(({ path }) => !path.includes('.'));
      for (const { path, instance } of fields)
        for (const [what, value] of Object.entries(VALUES)) {
          if (OF_TYPE[instance]?.includes(what) && path !== 'after') continue;
          number += 1;
          const _id = `${String(original._id).slice(0, -4)}${number}`;
          const copy: Stored = { ...original, _id };
          if ('once' in copy) copy['once'] = _id;
          if ('in_log' in copy) copy['in_log'] = false;
          if ('first' in copy && name === 'segments') copy['first'] = -1;
          copy['tag'] = tag(copy);
          if (path === '_id') {
            if (value === MISSING || value === TOO_FAR || value === null || Array.isArray(value)) continue;
            copy._id = value;
          } else if (value === MISSING) delete copy[path];
          else copy[path] = value;
          copies.push(copy);
          // A field that is taken away may be one that nobody believes.
          if (value !== null && value !== MISSING)
            altered.set(named(String(copy._id)), `${name}: ${what} in the place of ${path}`);
        }
      await collection(name).insertMany(copies as never);
    }
  }

  const writerOf = (told: string[]) => {
    const { settings } = system;
    const timings = { ...settings.HOOKLINE_TEST_TIME_SCALE, log_looks_again_ms: 1 };
    const restores = createRestoreWatch(settings, system, pino({ level: 'silent' }));
    const watch = { refused: async ({ message }: Error) => void told.push(message), signed() {} };
    return createLogWriter(
      { ...settings, HOOKLINE_TEST_TIME_SCALE: timings },
      system,
      watch as never,
      restores,
    );
  };

  it('stops neither the log nor what looks at it, and each of them is named', async () => {
    const told: string[] = [];
    const said: string[] = [];
    const writer = writerOf(told);
    const before = await database.log.size();
    await system.account();
    while ((await writer.appendChanges()) > 0);
    assert.ok((await writer.publish(undefined)).size > before, 'what was recorded since is in the log');
    await database.ends.next();
    await database.records.removePayloads();
    await auditNumbers(database, async (_, what, how) => void told.push(`${what} ${how}`));

    const keys = await createLogSigners(system.settings, database).known();
    const sources = { database, keys, memory: {}, keptDays: 1 };
    for await (const { id, what } of compareLog(sources, { ...NO_LOG_COUNTS })) said.push(`${id} ${what}`);
    const endpoints = await collection('endpoints').find().toArray();
    for (const put of [{ unrecorded: 'none' }, { unrecorded: [null, 7] }, { changed_at: 'never' }]) {
      await collection('endpoints').updateMany({}, { $set: { ...put, unrecorded_since: new Date() } });
      await database.changes.collect();
      const period = { from: new Date(0), to: new Date() };
      const found = compareVersions(database.changes.audit, period);
      for await (const { id, what } of found) said.push(`${id} ${what}`);
    }
    assert.ok(said.some((line) => /^endpoint:\w+ has a version without a time/.test(line)));
    for (const endpoint of endpoints)
      await collection('endpoints').replaceOne({ _id: endpoint._id }, endpoint);

    const unnamed = [...altered].filter(([id]) => !said.some((line) => line.startsWith(`${id} `)));
    assert.deepEqual(unnamed, []);
    // The index of segments finds those alone that say that the log has not taken them.
    const isToTell = (how: string) => /^(changes|segments|sequence|unannounced)(?!.* of first$)/.test(how);
    const untold = [...altered].filter(
      ([id, how]) =>
        isToTell(how) && !told.some((line) => line.includes(id.replace('void', 'range of void'))),
    );
    assert.deepEqual(untold, []);
  });

  it('is shown as what was altered, and breaks nothing that is shown', async () => {
    const { records, changes, sequences, payloads } = database;
    const { accountId } = client;
    const period = { from: new Date(0), to: new Date(Date.now() + 60_000) };
    const idsIn = async (name: string) =>
      (
        await collection(name)
          .find({}, { projection: { _id: 1 } })
          .toArray()
      ).flatMap(({ _id }) => (typeof _id === 'string' ? _id : []));
    const all = async (some: AsyncIterable<unknown>) => {
      for await (const _ of some);
    };
    const [rows, events, changed] = await Promise.all(['deliveries', 'events', 'changes'].map(idsIn));
    const reads: Promise<unknown>[] = [
      records.deliveries(accountId, {}, {}, 1_000),
      records.events(accountId, {}, 1_000, undefined),
      all(records.export(accountId, period)),
      all(changes.read(accountId, period)),
      changes.list(accountId, {}, 1_000),
      sequences.numbersOf(accountId),
      sequences.voids.within(accountId, { first: 1, last: 1_000_000 }),
      records.rows.known(rows ?? []),
      records.rows.eventsOf(events ?? []),
      ...(rows ?? []).flatMap((id) => [records.delivery(accountId, id), records.record(accountId, id)]),
      ...(events ?? []).flatMap((event_id) => [
        records.event(accountId, event_id),
        payloads.of({ account_id: accountId, event_id }),
        database.events.find(event_id),
      ]),
      ...(changed ?? []).map((id) => changes.get(accountId, id)),
    ];
    const ends = await Promise.allSettled(reads);
    const failed = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason as Error] : []));
    assert.ok(failed.length > 0);
    assert.deepEqual(
      // A payload opens with its own event alone.
      failed
        .filter(({ name }) => !['RecordAlteredError', 'SealedTextError'].includes(name))
        .map(({ stack }) => stack),
      [],
    );
  });

  it('stops the log if it is in the log itself: people are told, and no leaf is lost', async () => {
    const told: string[] = [];
    const writer = writerOf(told);
    await system.account();
    const others = ['text', 7, 1e300, true, null, ['a'], new Date()];
    for (const [name, _id, fields] of [
      ['log_heads', 'head', ['size', 'root', 'note', 'signed_at']],
      ['log_tiles', '0/0', ['width', 'hashes']],
    ] as const) {
      const original = (await collection(name).findOne({ _id: _id as never })) ?? assert.fail(name);
      for (const field of fields)
        for (const other of others) {
          if (field === 'signed_at' && (other === null || other instanceof Date)) continue;
          await collection(name).updateOne({ _id: _id as never }, { $set: { [field]: other } });
          const run = async () => {
            while ((await writer.appendChanges()) > 0);
            await writer.publish(undefined);
          };
          const count = told.length;
          await assert.rejects(run(), { name: 'LogAlteredError' }, `${name}.${field}: ${String(other)}`);
          assert.ok(told.length > count, `${name}.${field}: ${String(other)}`);
          await collection(name).replaceOne({ _id: _id as never }, original);
        }
    }
    while ((await writer.appendChanges()) > 0);
    const { size } = await writer.publish(undefined);
    assert.equal((await database.log.leavesFrom(0)).length, size);
    for await (const some of database.changes.audit.changes())
      for (const { change, wrong, leafIndex } of some) {
        if (wrong !== undefined) continue;
        assert.ok(leafIndex !== undefined && leafIndex < size, `${change.id}: ${leafIndex}`);
      }
  });
});
