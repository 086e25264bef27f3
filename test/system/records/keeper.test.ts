import assert from 'node:assert/strict';
import mongoose, { type Connection } from 'mongoose';
import { createKeepRows } from '../../../activities/records/keep-rows.js';
import type { Keeper, KeeperOptions } from '../../../activities/records/keeper.js';
import { leafHash } from '../../../packages/tlog/src/index.js';
import { requireBoxes } from '../../../src/bin/process/secrets.js';
import { deliveryId } from '../../../src/domain/basics/delivery-id.js';
import { newId } from '../../../src/domain/basics/ids.js';
import type { DeliveryRecord } from '../../../src/domain/delivery/delivery.js';
import type { TimelineItem } from '../../../src/domain/explain/timeline.js';
import { keyIdOf } from '../../../src/domain/privacy/data-key.js';
import { parseKeptDays } from '../../../src/domain/records/kept-days.js';
import type { RowStore, Told, ToldRun } from '../../../src/domain/records/told.js';
import { RecordRepository } from '../../../src/models/records/records.js';
import type { ApiClient } from '../../support/api-client.js';
import { runRecords } from '../../support/parts/records.js';
import { StoredRows, verifyRecords } from '../../support/parts/stored-rows.js';
import { at, attempt, closed, keeperOver, open, runOf, toldBy } from '../../support/parts/told.js';
import { startSystem, type TestSystem } from '../../support/system.js';

/** Tells of deliveries that no execution has, as executions do. */
describe('rows of deliveries', () => {
  let system: TestSystem;
  let client: ApiClient;
  let connection: Connection;
  let stored: StoredRows;
  let keeper: Keeper;
  /** The latest run that Temporal knows. */
  let latest: string;
  let event_id: string;
  let endpoint_id: string;
  let id: string;

  before(async () => {
    system = await startSystem();
    client = await system.account();
    connection = await mongoose.createConnection(system.environment['MONGODB_URI'] ?? '').asPromise();
    stored = new StoredRows(connection);
    keeper = keeperOf(system.database.records.rows);
  });
  after(async () => {
    await connection.close();
    await system.stop();
  });
  beforeEach(async () => {
    // Nobody wants it, so that nothing else tells of it.
    ({ id: event_id } = await client.purchase());
    endpoint_id = newId('endpoint');
    id = deliveryId({ event_id, endpoint_id });
  });

  const keeperOf = (rows: RowStore, more: Partial<KeeperOptions> = {}) =>
    keeperOver(rows, { sealer: system.sealer, latestRun: async () => latest, ...more });
  const run = (number = 1, more: Partial<ToldRun> = {}) => runOf(id, number, more);
  const later = { started_at: at(-300) };
  const tell = (record: DeliveryRecord, turn = 2, of = run()): Told =>
    toldBy(of, turn, { account_id: client.accountId, event_id, endpoint_id }, record);
  const row = () => stored.copyOf(id);
  const read = () => client.delivery(id);
  const timeline = async (): Promise<TimelineItem[]> =>
    (await client.request('GET', `/v18.0/deliveries/${id}/timeline`)).json.data;
  const certificate = () => client.request('GET', `/v18.0/deliveries/${id}/certificate`);
  const segmentsOf = (revision = 1) => stored.segments.find({ records: `${id}/${revision}` }).toArray();
  /** How many leaves the log has of a record. */
  const leavesOf = async (record: unknown) => {
    const hash = leafHash(String(record));
    return (await system.database.log.leavesFrom(0)).filter((leaf) => leaf.equals(hash)).length;
  };
  /** Differences that are reported of the delivery, and of leaves. */
  const wrong = async () =>
    Object.entries((await verifyRecords(system)).found).filter(
      ([name]) => name === id || name.startsWith('lea'),
    );

  it('has a delivery woken that waits for its owner, if the endpoint takes deliveries before the row is there', async () => {
    let isActive = true;
    const woken: unknown[] = [];
    const waking = keeperOf(system.database.records.rows, {
      isActiveOrGone: async (...endpoint) =>
        isActive && endpoint[0] === client.accountId && endpoint[1] === endpoint_id,
      wake: async (delivery, workflowId) => void woken.push([deliveryId(delivery), workflowId]),
    });
    const wokenBy = async (status: 'paused' | 'disabled' | 'failing' | 'busy', turn: number) => {
      const cause = { code: 'endpoint', status } as const;
      await waking.keep(tell({ status: 'parked', attempts: [], cause }, turn));
      // Nobody waits for it, and nothing here takes longer.
      await new Promise((resolve) => setImmediate(resolve));
      return woken.splice(0);
    };
    const workflowId = run().workflow_id;
    assert.deepEqual(await wokenBy('paused', 2), [[id, workflowId]]);
    assert.deepEqual(await wokenBy('disabled', 3), [[id, workflowId]]);
    assert.deepEqual(await wokenBy('failing', 4), [], 'its incident looks again');
    assert.deepEqual(await wokenBy('busy', 5), [], 'it looks again by itself');
    isActive = false;
    assert.deepEqual(await wokenBy('paused', 6), [], 'it is released when its owner resumes it');
  });

  describe('whose keeper was killed between keeping a row and making its segment', () => {
    /** Continues it, if it was only frozen. */
    let thaw: () => Promise<void>;

    beforeEach(async () => {
      const { sealer, settings, database } = system;
      const days = parseKeptDays('1');
      const { log, segments, payloads, dataKeys: keys } = database;
      const stopped = Object.create(segments, {
        insert: {
          value: (...args: Parameters<typeof segments.insert>) => {
            thaw = async () => void (await segments.insert(...args));
            return Promise.reject(new Error('stopped'));
          },
        },
      });
      const sources = { sealer, payloads, keys, log, segments: stopped };
      const { box } = requireBoxes(settings);
      const { rows } = new RecordRepository(connection, { records: days, payloads: days }, sources, box);
      await assert.rejects(keeperOf(rows).keep(tell(closed()), true), { message: 'stopped' });
      assert.equal(await stored.segmentOf(await row()), null);
    });

    it('are shown, and not in the log; told again, they get a segment [world]', async () => {
      assert.equal((await read()).status, 'delivered');
      assert.equal((await certificate()).json.code, 'not_in_log');
      assert.deepEqual(await wrong(), []);
      const { record } = await row();
      await keeper.keep(tell(closed()));
      await runRecords(system);
      const logged = await row();
      assert.equal(logged['record'], record);
      assert.equal(await system.database.log.isLeaf(String(record), await stored.leafOf(logged)), true);
      assert.equal((await certificate()).status, 200);
      assert.deepEqual(await wrong(), []);
    });

    it('are in the log before the row of a later run takes their place', async () => {
      const { record } = await row();
      latest = 'run-2';
      await keeper.keep(tell(closed(), 1, run(2, later)));
      await runRecords(system);
      const second = await row();
      assert.equal(second['revision'], 2);
      assert.equal(await leavesOf(record), 1);
      assert.ok((await stored.leafOf(second)) >= 0);
      assert.deepEqual(await wrong(), []);
    });

    it('get a segment from the task that is repeated, and finds that nothing is left to do', async () => {
      assert.equal((await keeper.recorded('run-1', [{ event_id, endpoint_id }])).size, 1);
      assert.ok(await stored.segmentOf(await row()));
    });

    it('get a segment from whoever sees that their execution was terminated, and cannot tell any more', async () => {
      const { record } = await row();
      const intervention = { action: 'terminate', at: at(0), by: 'ada' } as const;
      await keeper.terminated({ run: run(), keys: [{ event_id, endpoint_id }], reason: 'x', intervention });
      const adopted = await row();
      assert.deepEqual([adopted['record'], adopted['status']], [record, 'delivered']);
      assert.ok(await stored.segmentOf(adopted));
    });

    it('have one record, and at most a leaf more that accuses nobody, if it goes on later [world]', async () => {
      await Promise.all([keeper.keep(tell(closed())), keeper.keep(tell(closed()))]);
      await runRecords(system);
      const kept = await row();
      const leaf = await stored.leafOf(kept);
      await thaw();
      await runRecords(system);
      assert.deepEqual(await row(), kept);
      assert.equal((await certificate()).json.leaf_index, leaf);
      assert.deepEqual(await wrong(), []);
      latest = 'run-2';
      await keeper.keep(tell(closed(), 1, run(2, later)));
      await runRecords(system);
      assert.deepEqual(await wrong(), []);
    });

    it('get no segment if somebody has altered them meanwhile [world]', async () => {
      const kept = await row();
      const record = String(kept['record']).replace(/"duration_ms":/, '"duration_ms":1');
      await stored.rows.updateOne({ _id: id }, { $set: { record } });
      await keeper.keep(tell(closed()));
      await runRecords(system);
      assert.equal(await stored.segmentOf(await row()), null);
      assert.equal(await leavesOf(record), 0);
      assert.match((await wrong()).join(), /was altered|is not what was written/);
      await stored.restore(kept);
      await keeper.keep(tell(closed()));
      assert.ok(await stored.segmentOf(await row()));
    });
  });

  it('wait for the log, which takes their segments with its next run, and notes where it has them [world]', async () => {
    await keeper.keep(tell(closed()));
    const segment = (await stored.segmentOf(await row())) ?? assert.fail();
    assert.equal(segment['first'], -1);
    assert.equal((await certificate()).json.code, 'not_in_log');
    assert.deepEqual(await wrong(), []);
    await runRecords(system);
    assert.equal((await certificate()).status, 200);
    // Killed before it had noted that, it finds them where they are, and does not append them again.
    await stored.segments.updateOne({ _id: segment._id }, { $set: { first: -1 } });
    assert.deepEqual(await wrong(), []);
    await runRecords(system);
    assert.equal((await certificate()).status, 200);
    assert.equal(await leavesOf((await row())['record']), 1);
  });

  it('are one, with one record, if several keep them at once', async () => {
    const keepers = Array.from({ length: 4 }, (_, at) => keeper.keep(tell(closed()), at % 2 === 0));
    await Promise.all(keepers);
    await runRecords(system);
    const { record, revision } = await row();
    assert.equal(revision, 1);
    // A keeper that reads the row before its segment is there makes another one, with the same record.
    const segments = await segmentsOf();
    const leaves = await leavesOf(record);
    assert.ok(leaves >= 1 && leaves <= segments.length, `${leaves} leaves, ${segments.length} segments`);
    assert.equal((await certificate()).status, 200);
    assert.deepEqual(await wrong(), []);
  });

  it('are no news to the task that told them, and to another one of the same turn if it has seen something else', async () => {
    const told = tell(closed());
    assert.deepEqual([...(await keeper.keep(told, true))], []);
    assert.deepEqual([...(await keeper.keep(told))], []);
    assert.deepEqual([...(await keeper.keep(tell({ ...closed(), attempts: [attempt(1, 200)] })))], [id]);
    assert.deepEqual([...(await keeper.keep(tell(open())))], [id]);
  });

  it('keep their record if what they say is told once more', async () => {
    const told = tell(closed());
    await keeper.keep(told, true);
    const before = await row();
    assert.deepEqual([...(await keeper.keep({ ...told, turn: told.turn + 1 }))], []);
    assert.deepEqual(await row(), before);
  });

  it('have another record if more is said of their close, of which usage counts one', async () => {
    const told = tell(closed());
    await keeper.keep(told, true);
    const said = [{ at: told.at, type: 'released' as const, text: 'Released.' }];
    const deliveries = told.deliveries.map((one) => ({ ...one, said }));
    await keeper.keep({ ...told, turn: told.turn + 1, deliveries });
    const usage = [...(await segmentsOf(1)), ...(await segmentsOf(2))].map((one) => one['usage']);
    assert.deepEqual(usage, [[{ account_id: client.accountId, deliveries: 1, attempts: 1 }], []]);
    await runRecords(system);
    assert.deepEqual(await wrong(), []);
  });

  it('stay as what was told last, in whatever order it arrives', async () => {
    await Promise.all([
      keeper.keep(tell(open(), 1), true),
      keeper.keep(tell(closed(), 3)),
      keeper.keep(tell(open(), 2)),
    ]);
    const kept = await row();
    assert.deepEqual([kept['status'], kept['turn'], kept['revision']], ['delivered', 3, 1]);
    // Who tells late, or of the same turn, hears that something else was told meanwhile.
    for (const turn of [1, 2, 3]) assert.deepEqual([...(await keeper.keep(tell(open(), turn)))], [id]);
    assert.deepEqual(await row(), kept);
  });

  it('keep an attempt that a task taken for lost has kept late: the task in its place takes it over', async () => {
    const none: DeliveryRecord = {
      status: 'parked',
      attempts: [],
      cause: { code: 'endpoint', status: 'busy' },
    };
    const made = open();
    await keeper.keep(tell(made, 3), true);
    const kept = await row();
    // While its own attempt is in flight, and when it could not be made.
    for (const record of [{ ...none, status: 'delivering' as const }, none])
      assert.deepEqual([...(await keeper.keep({ ...tell(record, 9), takes_over: true }))], [id]);
    assert.deepEqual(await row(), kept);
    const recorded = await keeper.recorded('run-1', [{ event_id, endpoint_id }]);
    assert.equal(recorded.get(id)?.record.attempts[0]?.at, made.attempts[0]?.at);
    // It goes on from what it took over, so the timeline has the attempt once.
    await keeper.keep(tell({ status: 'delivered', attempts: [...made.attempts, attempt(2, 200)] }, 12));
    const told = (await timeline()).filter(({ type }) => type === 'attempt');
    assert.equal(told.length, 2);
  });

  it('stay closed in their run, whatever a task that was lost tells late', async () => {
    await keeper.keep(tell(closed(), 2), true);
    const kept = await row();
    for (const record of [open(), { ...closed(), attempts: [attempt(1, 201)] }])
      assert.deepEqual([...(await keeper.keep(tell(record, 9)))], [id]);
    assert.deepEqual(await row(), kept);
  });

  it('have an end to announce if it counts, and not if a task that was lost tells it late', async () => {
    const endpoints = { isWatched: async () => true };
    const keepRows = createKeepRows({ rows: keeper, endpoints, ends: system.database.ends });
    const noted = () => connection.collection('unannounced_ends').countDocuments({ delivery_id: id });
    const exhausted: DeliveryRecord = { ...open(), status: 'exhausted' };
    assert.equal(await keepRows(tell(open(), 5)), true);
    assert.equal(await keepRows(tell(exhausted, 3)), false);
    assert.equal(await noted(), 0);
    assert.equal(await keepRows(tell(exhausted, 7)), true);
    assert.equal(await keepRows(tell({ ...exhausted, attempts: [attempt(1, 502)] }, 6)), false);
    assert.equal(await noted(), 1);
  });

  it('are of the later run if it was sent again, and what an earlier one tells late changes nothing', async () => {
    await keeper.keep(tell(closed()));
    const again: DeliveryRecord = {
      ...open(),
      interventions: [{ action: 'resend', at: later.started_at, by: 'ada' }],
    };
    latest = 'run-2';
    // Whatever the clocks say that told of the starts.
    await keeper.keep(tell(again, 1, run(2, { started_at: at(-900) })));
    const reopened = await row();
    const { record, segment, revision, sum } = reopened;
    assert.deepEqual([record, segment, revision, typeof sum], [undefined, undefined, 2, 'string']);
    assert.deepEqual(
      (await read()).earlier_runs?.map(({ run_id, status }) => [run_id, status]),
      [['run-1', 'delivered']],
    );
    await keeper.keep(tell(open(), 9));
    assert.deepEqual(await row(), reopened);
    await keeper.keep(tell({ ...again, ...closed() }, 2, run(2)));
    await runRecords(system);
    assert.deepEqual([(await segmentsOf(1)).length, (await segmentsOf(2)).length], [1, 1]);
    assert.deepEqual(await wrong(), []);
  });

  it('are of the run that Temporal has after a reset, whichever of both tells first', async () => {
    // By the process that had begun the attempt, whose clock is ahead of Temporal's.
    await keeper.keep(tell(open(), 5, run(1, { started_at: at(600) })));
    latest = 'run-1b';
    const { is_first: _, ...first } = run();
    const itsReset = { ...first, run_id: latest };
    await keeper.keep(tell(open(), 3, itsReset));
    assert.equal((await row())['run_id'], latest);
    const kept = await row();
    await keeper.keep(tell(closed(), 6));
    assert.deepEqual(await row(), kept);
    await keeper.keep(tell(closed(), 4, itsReset));
    const summary = JSON.parse((await row())['summary'] as string);
    assert.deepEqual([summary.status, summary.timeline], ['delivered', undefined]);
    const [reset, another] = (await timeline()).filter(({ type }) => type === 'reset');
    assert.deepEqual([reset?.run_id, another], [latest, undefined]);
  });

  it('are closed as terminated once, by the run that was, and what it tells late changes nothing', async () => {
    await keeper.keep(tell(open()));
    const intervention = { action: 'terminate', at: at(0), by: 'ada' } as const;
    const terminate = (of: ToldRun) =>
      keeper.terminated({
        run: of,
        keys: [{ event_id, endpoint_id }],
        reason: 'No longer wanted.',
        intervention,
      });
    const before = await row();
    await terminate(run(2, { workflow_id: 'group:grp_1' }));
    assert.deepEqual(await row(), before);
    // Reset, and terminated before it has told anything.
    await terminate(run(2));
    const terminated = await row();
    const { status, reason, closed_at, attempts } = await read();
    assert.deepEqual(
      [status, reason, closed_at, attempts.length],
      ['terminated', 'No longer wanted.', intervention.at, 1],
    );
    await terminate(run());
    assert.deepEqual([...(await keeper.keep(tell(closed(), 9)))], [id]);
    assert.deepEqual(await row(), terminated);
    assert.equal((await segmentsOf()).length, 1);
  });

  for (const altered of ['detail', 'summary'] as const)
    it(`take nothing over from one whose ${altered} somebody has altered`, async () => {
      await keeper.keep(tell(open()));
      const { detail, summary } = await row();
      const context = { accountId: client.accountId, eventId: event_id };
      const text = (await system.sealer.open(context, String(detail))) ?? '';
      const forged = {
        detail: `p1.${keyIdOf(String(detail))}.${text.replace('subscriber.example', 'somebody.example')}`,
        summary: String(summary).replace('retrying', 'delivered'),
      };
      await stored.rows.updateOne({ _id: id }, { $set: { [altered]: forged[altered] } });
      const { json } = await client.request('GET', `/v18.0/deliveries/${id}`);
      assert.equal(json.code, 'record_altered');
      assert.equal((await keeper.recorded('run-1', [{ event_id, endpoint_id }])).size, 0);
      // As an execution tells it that has left to the row what its endpoint answered.
      const attempts = open().attempts.map((one) => ({ ...one, shortened: true as const }));
      await keeper.keep(tell({ status: 'delivered', attempts }, 3));
      const delivery = await read();
      assert.deepEqual(
        [delivery.status, delivery.attempts[0]?.url],
        ['delivered', 'https://subscriber.example/hooks'],
      );
    });
});
