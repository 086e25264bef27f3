import assert from 'node:assert/strict';
import { deliveryId } from '../../../src/domain/basics/delivery-id.js';
import { newId } from '../../../src/domain/basics/ids.js';
import { groupWorkflowId } from '../../../src/domain/ledger/workflow-ids.js';
import type { Told } from '../../../src/domain/records/told.js';
import { readTaskAttempt } from '../../../src/temporal/read/history.js';
import { type Act, act, release } from '../../../workflows/messages.js';
import { executionOf } from '../../support/history.js';
import { answered, answering } from '../../support/parts/answered.js';
import { connectLedger } from '../../support/parts/bare-ledger.js';
import { startGroup } from '../../support/parts/start-group.js';
import { startStubWorker } from '../../support/parts/stub-worker.js';
import { until } from '../../support/until.js';

describe('what is done to a group [world]', () => {
  let system: Awaited<ReturnType<typeof connectLedger>>;
  let stop: (() => Promise<void>) | undefined;
  /** Last report on each delivery, by id. */
  let told: Map<string, string>;
  before(async () => {
    system = await connectLedger();
  });
  beforeEach(() => {
    told = new Map();
  });
  afterEach(() => stop?.());
  after(() => system.close());

  async function keepRows({ deliveries }: Told): Promise<boolean> {
    for (const one of deliveries) {
      const { status, attempts } = one.snapshot.record;
      told.set(deliveryId(one), `${status} ${attempts.length}`);
    }
    return true;
  }

  /** A group whose deliveries have failed once. `read`: the status of each, and how many attempts it has had. */
  async function failedOnce(deliveries: number) {
    const endpoint_id = newId('endpoint');
    const times = Array.from({ length: deliveries }, () => Date.now());
    const account = { accountId: newId('account') };
    const { groupId, events } = await startGroup(system, account, endpoint_id, times);
    const group = await executionOf(system, groupWorkflowId(groupId));
    const ids = events.map(({ event_id }) => deliveryId({ event_id, endpoint_id }));
    const read = () => ids.map((id) => told.get(id));
    await until(read, (members) => members.every((member) => member === 'retrying 1'));
    return { group, endpoint_id, ids, read };
  }

  it('is a release: in the direct lane, but for those that had to be made in the other', async () => {
    let direct = 0;
    const sent_at = Date.now() - 1_000;
    const tries: number[] = [];
    stop = await startStubWorker(system.temporal, system.settings.HOOKLINE_TASK_QUEUE, {
      keepRows,
      attemptFirst: answering(500),
      async attemptReleased({ orders, waited_ms = 0 }) {
        direct += orders.length;
        assert.ok(waited_ms >= 1_000, 'since it was sent, by the time of the workflow');
        const { workflowId, runId } = await group.describe();
        tries.push(await readTaskAttempt(system.temporal.client, { workflowId, runId }));
        // The endpoint of the last one is found to be slow.
        return {
          reports: orders.map(({ attempt }, index) => (index === 2 ? null : answered(200, attempt))),
          kept: false,
        };
      },
      attemptMembers: answering(500),
    });
    const { group, endpoint_id, read } = await failedOnce(4);
    await group.signal(release, { endpoint_id, limit: 3, direct: true, sent_at });
    const last = await until(read, (members) => members[2] === 'retrying 2');
    assert.deepEqual(last, ['delivered 2', 'delivered 2', 'retrying 2', 'retrying 1']);
    assert.equal(direct, 3);
    assert.deepEqual(tries, [1]);
  });

  it('is done to one of its deliveries where that is', async () => {
    stop = await startStubWorker(system.temporal, system.settings.HOOKLINE_TASK_QUEUE, {
      keepRows,
      attemptFirst: answering(500),
      attemptMembers: answering(500),
      attemptReleased: answering(200),
    });
    const { group, endpoint_id, ids, read } = await failedOnce(4);
    const done = async (index: number, action: Act['action']) =>
      group.executeUpdate(act, { args: [{ action, delivery: ids[index] ?? '', by: 'somebody' }] });
    const paused = await done(0, 'pause');
    assert.deepEqual([paused.status, paused.cause], ['parked', { code: 'paused', by: 'somebody' }]);
    // Its row says what was done by the time that who did it hears so.
    assert.equal(read()[0], 'parked 1');
    await done(1, 'cancel');
    await assert.rejects(done(1, 'retry'), (error: Error) => /is closed/.test(String(error.cause)));
    await done(2, 'retry');
    await until(read, (members) => members[2] === 'retrying 2');
    await group.signal(release, { endpoint_id, limit: 1, direct: true });
    const last = await until(read, (members) => members.includes('delivered 3'));
    assert.deepEqual(last, ['parked 1', 'cancelled 1', 'delivered 3', 'retrying 1']);
    await done(0, 'resume');
    assert.equal(read()[0], 'retrying 1');
  });

  it('is refused if it names no delivery of several, or no action', async () => {
    stop = await startStubWorker(system.temporal, system.settings.HOOKLINE_TASK_QUEUE, {
      keepRows,
      attemptFirst: answering(500),
    });
    const { group } = await failedOnce(2);
    const refused = (order: unknown, expected: RegExp) =>
      assert.rejects(group.executeUpdate(act, { args: [order as Act] }), (error: Error) =>
        expected.test(String(error.cause)),
      );
    await refused({ action: 'cancel' }, /no such delivery/);
    await refused({ action: 'cancel', delivery: 'dlv_1' }, /no such delivery/);
    await refused({ action: 'throw' }, /retry, cancel, pause, resume/);
    await refused(undefined, /an action is needed/);
  });
});
