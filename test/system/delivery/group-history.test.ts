import assert from 'node:assert/strict';
import type { Activities } from '../../../activities/index.js';
import { deliveryId } from '../../../src/domain/basics/delivery-id.js';
import { newId } from '../../../src/domain/basics/ids.js';
import { MOST_RELEASES_IN_A_ROW } from '../../../src/domain/endpoint/release.js';
import { groupWorkflowId } from '../../../src/domain/ledger/workflow-ids.js';
import { readGroup } from '../../../src/temporal/read/group/group-history.js';
import { readTaskAttempt } from '../../../src/temporal/read/history.js';
import { type Act, act, release } from '../../../workflows/messages.js';
import { answered } from '../../support/parts/answered.js';
import { connectLedger } from '../../support/parts/bare-ledger.js';
import { startGroup } from '../../support/parts/start-group.js';
import { startStubAttempts, startStubWorker, startStubWorkflows } from '../../support/parts/stub-worker.js';
import { until } from '../../support/until.js';

describe('the history of a group [world]', () => {
  let system: Awaited<ReturnType<typeof connectLedger>>;
  let stop: (() => Promise<void>) | undefined;
  before(async () => {
    system = await connectLedger();
  });
  afterEach(() => stop?.());
  after(() => system.close());

  /** A group whose deliveries have failed once. `read`: the status of each, and how many attempts it has had. */
  async function failedOnce(deliveries: number) {
    const endpoint_id = newId('endpoint');
    const times = Array.from({ length: deliveries }, () => Date.now());
    const account = { accountId: newId('account') };
    const { groupId, events } = await startGroup(system, account, endpoint_id, times);
    const group = system.temporal.client.workflow.getHandle(groupWorkflowId(groupId));
    const { runId } = await group.describe();
    const read = async () => {
      const machine = await readGroup(system.temporal.client, { workflowId: group.workflowId, runId });
      return (machine?.records ?? []).map((record) => `${record?.status} ${record?.attempts.length}`);
    };
    await until(read, (members) => members.every((member) => member === 'retrying 1'));
    return { group, endpoint_id, events, read };
  }

  it('says that the same delivery is released again which the group has released again', async () => {
    let made = 0;
    stop = await startStubWorker(system.temporal, system.settings.HOOKLINE_TASK_QUEUE, {
      attemptFirst: async ({ deliveries }) => deliveries.map(() => answered(500)),
      async attemptMembers({ attempts }) {
        made += attempts.length;
        return attempts.map(({ number }) => answered(500, { number, trigger: 'released' }));
      },
    });
    const endpoint_id = newId('endpoint');
    const now = Date.now();
    const { groupId } = await startGroup(system, { accountId: newId('account') }, endpoint_id, [now, now]);
    const group = system.temporal.client.workflow.getHandle(groupWorkflowId(groupId));
    const read = async () => {
      const { workflowId, runId } = await group.describe();
      return readGroup(system.temporal.client, { workflowId, runId });
    };
    /**
     * How many attempts each has had, once the workflow knows of them: one task may tell it of a signal before what
     * ended earlier.
     */
    const idleAttempts = async () => {
      const records = (await read())?.records ?? [];
      const { raw } = await group.describe();
      return raw.pendingWorkflowTask ? 'busy' : records.map((record) => record?.attempts.length ?? 0).join();
    };
    for (let released = 1; released <= 2; released += 1) {
      await until(idleAttempts, (numbers) => numbers === `${released},1`);
      await group.signal(release, { endpoint_id, limit: 1, most: MOST_RELEASES_IN_A_ROW });
    }
    await until(idleAttempts, (numbers) => numbers === '3,1');
    assert.equal(made, 2);
    const machine = await read();
    assert.deepEqual([machine?.member(0)?.isAttempting, machine?.member(1)?.isAttempting], [false, false]);
  });

  it('has the attempts of a release in the direct lane, and those that had to be made in the other', async () => {
    let direct = 0;
    const sent_at = Date.now() - 1_000;
    const tries: number[] = [];
    stop = await startStubWorker(system.temporal, system.settings.HOOKLINE_TASK_QUEUE, {
      attemptFirst: async ({ deliveries }) => deliveries.map(() => answered(500)),
      async attemptReleased({ attempts, waited_ms = 0 }) {
        direct += attempts.length;
        assert.ok(waited_ms >= 1_000, 'since it was sent, by the time of the workflow');
        const { workflowId, runId } = await group.describe();
        tries.push(await readTaskAttempt(system.temporal.client, { workflowId, runId }));
        // The endpoint of the last one is found to be slow.
        return {
          attempts,
          reports: attempts.map((attempt, index) => (index === 2 ? null : answered(200, attempt))),
        };
      },
      attemptMembers: async ({ attempts }) => attempts.map((attempt) => answered(500, attempt)),
    });
    const { group, endpoint_id, read } = await failedOnce(4);
    await group.signal(release, { endpoint_id, limit: 3, direct: true, sent_at });
    const last = await until(read, (members) => members[2] === 'retrying 2');
    assert.deepEqual(last, ['delivered 2', 'delivered 2', 'retrying 2', 'retrying 1']);
    assert.equal(direct, 3);
    assert.deepEqual(tries, [1]);
  });

  it('has what was done to its deliveries, each where it is, and which of them a release was for then', async () => {
    stop = await startStubWorker(system.temporal, system.settings.HOOKLINE_TASK_QUEUE, {
      attemptFirst: async ({ deliveries }) => deliveries.map(() => answered(500)),
      attemptMembers: async ({ attempts }) => attempts.map((attempt) => answered(500, attempt)),
      attemptReleased: async ({ attempts }) => ({
        attempts,
        reports: attempts.map((attempt) => answered(200, attempt)),
      }),
    });
    const { group, endpoint_id, events, read } = await failedOnce(4);
    const ids = events.map(({ event_id }) => deliveryId({ event_id, endpoint_id }));
    const done = async (index: number, action: Act['action']) =>
      group.executeUpdate(act, { args: [{ action, delivery: ids[index] ?? '', by: 'somebody' }] });
    const paused = await done(0, 'pause');
    assert.deepEqual([paused.status, paused.cause], ['parked', { code: 'paused', by: 'somebody' }]);
    await done(1, 'cancel');
    await assert.rejects(done(1, 'retry'), (error: Error) => /is closed/.test(String(error.cause)));
    await done(2, 'retry');
    await until(read, (members) => members[2] === 'retrying 2');
    await group.signal(release, { endpoint_id, limit: 1, direct: true });
    const last = await until(read, (members) => members.includes('delivered 3'));
    assert.deepEqual(last, ['parked 1', 'cancelled 1', 'delivered 3', 'retrying 1']);
    await done(0, 'resume');
    assert.equal((await read())[0], 'retrying 1');
  });

  it('refuses an act that names no delivery of several, or no action', async () => {
    stop = await startStubWorker(system.temporal, system.settings.HOOKLINE_TASK_QUEUE, {
      attemptFirst: async ({ deliveries }) => deliveries.map(() => answered(500)),
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

  it('says which delivery is attempted if a release came after an attempt ended, and the group heard of both at once', async () => {
    const { temporal, settings } = system;
    const queue = settings.HOOKLINE_TASK_QUEUE;
    const inFlight: (() => void)[] = [];
    const attemptFirst: Activities['attemptFirst'] = async ({ deliveries }) =>
      deliveries.map(() => answered(500));
    const attempts = await startStubAttempts(temporal, queue, {
      async attemptMembers({ attempts }) {
        await new Promise<void>((resolve) => inFlight.push(resolve));
        return attempts.map(({ number }) => answered(500, { number, trigger: 'released' }));
      },
    });
    let workflows = await startStubWorkflows(temporal, queue, { attemptFirst });
    stop = async () => {
      for (const answer of inFlight) answer();
      await Promise.all([workflows(), attempts()]);
    };
    const endpoint_id = newId('endpoint');
    const now = Date.now();
    const { groupId } = await startGroup(system, { accountId: newId('account') }, endpoint_id, [now, now]);
    const group = temporal.client.workflow.getHandle(groupWorkflowId(groupId));
    const { runId } = await group.describe();
    const read = async () => {
      const machine = await readGroup(temporal.client, { workflowId: group.workflowId, runId });
      return [0, 1].map((index) => {
        const member = machine?.member(index);
        return member?.isAttempting ? 'attempting' : member?.record.attempts.length;
      });
    };
    const releaseOne = () => group.signal(release, { endpoint_id, limit: 1, most: MOST_RELEASES_IN_A_ROW });

    await until(read, (members) => members.join() === '1,1');
    await releaseOne();
    await until(
      () => inFlight.length,
      (count) => count === 1,
    );
    await workflows();
    inFlight[0]?.();
    await until(read, (members) => members.join() === '2,1');
    await releaseOne();
    workflows = await startStubWorkflows(temporal, queue, { attemptFirst });
    await until(
      () => inFlight.length,
      (count) => count === 2,
    );
    assert.deepEqual(await read(), [2, 'attempting']);
  });
});
