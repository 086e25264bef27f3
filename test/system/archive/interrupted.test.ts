import assert from 'node:assert/strict';
import mongoose, { type Connection } from 'mongoose';
import { archiveExecutions } from '../../../activities/archive/archive-deliveries.js';
import { requireBoxes } from '../../../src/bin/process/secrets.js';
import { parseKeptDays } from '../../../src/domain/archive/kept-days.js';
import { leafHash } from '../../../src/domain/log/merkle-tree.js';
import { ArchiveRepository } from '../../../src/models/archive/archive.js';
import { ClosedExecutionFinder } from '../../../src/temporal/read/archive/closed-windows.js';
import type { ApiClient } from '../../support/api-client.js';
import { archived, runRecords } from '../../support/parts/records.js';
import { StoredRows, verifyArchive } from '../../support/parts/stored-rows.js';
import { type Receiver, reply, startReceiver } from '../../support/receiver.js';
import { startSystem, type TestSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

// Nothing but the row tells of the run: one that has failed can go on beside the next, and keep it then.
describe('a run of the archive that was interrupted between keeping rows and making their segment', () => {
  let system: TestSystem;
  let receiver: Receiver;
  let client: ApiClient;
  let connection: Connection;
  let stored: StoredRows;
  let id = '';
  /** What the run goes on with, once it is no longer stopped. */
  let thaw: () => Promise<void>;

  before(async () => {
    system = await startSystem({ HOOKLINE_RETRY_SCHEDULE: '1h' });
    receiver = await startReceiver({ handler: reply(200) });
    client = await system.account();
    await client.register(receiver.url);
    await runRecords(system);
    connection = await mongoose.createConnection(system.environment['MONGODB_URI'] ?? '').asPromise();
    stored = new StoredRows(connection);
  });
  after(async () => {
    await connection.close();
    await receiver.close();
    await system.stop();
  });
  beforeEach(async () => {
    const { deliveries: [sent] = [] } = await client.purchase();
    ({ id = '' } = sent ?? {});
    await client.deliveryUntil(id, ({ status }) => status === 'delivered');
    const { temporal, sealer, settings, database } = system;
    const days = parseKeptDays('1');
    const { log, segments, dataKeys: keys } = database;
    const stopped = Object.create(segments, {
      insert: {
        value: (...args: Parameters<typeof segments.insert>) => {
          thaw = async () => void (await segments.insert(...args));
          return Promise.reject(new Error('stopped'));
        },
      },
    });
    const retention = { records: days, payloads: days };
    const { box } = requireBoxes(settings);
    const sources = { sealer, keys, log, segments: stopped };
    const interrupted = new ArchiveRepository(connection, retention, sources, box);
    const { HOOKLINE_TASK_QUEUE: taskQueue } = settings;
    const finder = new ClosedExecutionFinder({
      client: temporal.client,
      taskQueue,
      sealer,
      archive: database.archive,
    });
    const run = async () => {
      const { executions } = await finder.closedFrom(new Date(Date.now() - 60_000), new Date(), 60_000);
      const own = executions.filter(({ runs }) => runs.some((one) => one.id === id));
      await archiveExecutions({ archive: interrupted, teller: { note: async () => {} } }, own);
    };
    const ended = () =>
      run().then(
        () => undefined,
        ({ message }: Error) => message,
      );
    assert.equal(await until(ended, (message) => message !== undefined), 'stopped');
    assert.equal(await stored.segmentOf(await stored.copyOf(id)), null);
  });

  /** What is said of the delivery, and of leaves. */
  const wrong = async () =>
    Object.entries((await verifyArchive(system)).found).filter(
      ([name]) => name === id || name.startsWith('lea'),
    );
  const certificate = () => client.request('GET', `/v18.0/deliveries/${id}/certificate`);

  it('shows the row, and misses nothing, also if the delivery was sent again [world]', async () => {
    assert.equal((await system.database.archive.delivery(client.accountId, id))?.id, id);
    assert.equal((await certificate()).json.code, 'not_in_log');
    assert.deepEqual(await wrong(), []);
    const first = await stored.copyOf(id);
    const second = await stored.sendAgain(system, client, id);
    // The record of the first run went to the log before the second took its place.
    const size = await system.database.log.size();
    const leaves = await system.database.log.leavesAt(Array.from({ length: size }, (_, at) => at));
    const hash = leafHash(String(first['record']));
    assert.ok([...leaves.values()].some((leaf) => leaf.equals(hash)));
    assert.ok((await stored.leafOf(second)) >= 0);
    assert.deepEqual(await wrong(), []);
  });

  it('gives the record to the log with the next run that finds the execution, as it is stored', async () => {
    const { record } = await stored.copyOf(id);
    await runRecords(system);
    const logged = await stored.copyOf(id);
    assert.equal(logged['record'], record);
    assert.equal(await system.database.log.isLeaf(String(record), await stored.leafOf(logged)), true);
    assert.equal((await certificate()).status, 200);
  });

  it('gives it to the log without its execution as well, which Temporal may not have any more [world]', async () => {
    await system.database.archive.rows.adoptAll();
    assert.ok(await stored.segmentOf(await stored.copyOf(id)));
  });

  it('has one record, and a leaf more that accuses nobody, if it goes on beside the next run or after it [world]', async () => {
    await Promise.all([runRecords(system), runRecords(system)]);
    const row = await stored.copyOf(id);
    const leaf = await stored.leafOf(row);
    await thaw();
    await runRecords(system);
    assert.deepEqual(await stored.copyOf(id), row);
    assert.equal((await certificate()).json.leaf_index, leaf);
    assert.deepEqual(await wrong(), []);
    const second = await stored.sendAgain(system, client, id);
    assert.equal(second['revision'], 2);
    assert.deepEqual(await wrong(), []);
  });

  it('is in the log with the next run if it had made the segment, and the log had not taken it', async () => {
    await thaw();
    assert.equal((await stored.segmentOf(await stored.copyOf(id)))?.['first'], -1);
    assert.equal((await certificate()).json.code, 'not_in_log');
    assert.deepEqual(await wrong(), []);
    await runRecords(system);
    assert.equal((await certificate()).status, 200);
    assert.deepEqual(await wrong(), []);
  });

  it('accuses nobody if the log has taken the segment, and its number was not noted [world]', async () => {
    await runRecords(system);
    const segment = (await stored.segmentOf(await stored.copyOf(id))) ?? assert.fail();
    assert.ok(Number(segment['first']) >= 0);
    await stored.segments.updateOne({ _id: segment._id }, { $set: { first: -1 } });
    assert.deepEqual(await wrong(), []);
    // It is found where it is, and not appended again.
    const size = await system.database.log.size();
    await runRecords(system);
    assert.deepEqual(await stored.segmentOf(await stored.copyOf(id)), segment);
    assert.ok((await system.database.log.size()) <= size + 1, 'a change of the test, at most');
  });

  it('gives nothing to the log that somebody has altered meanwhile [world]', async () => {
    const kept = await stored.copyOf(id);
    const record = String(kept['record']).replace(/"duration_ms":/, '"duration_ms":1');
    await stored.rows.updateOne({ _id: id }, { $set: { record } });
    const { log } = system.database;
    await runRecords(system);
    assert.equal(await stored.segmentOf(await stored.copyOf(id)), null);
    assert.equal(await log.isLeaf(record, (await log.size()) - 1), false);
    assert.match((await verifyArchive(system)).found[id] ?? '', /was altered|is not what was written/);
    await stored.rows.deleteOne({ _id: id });
    await archived(system, client, [id]);
  });
});
