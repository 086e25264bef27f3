import assert from 'node:assert/strict';
import { WorkflowFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { Worker } from '@temporalio/worker';
import type { Trigger } from '../../src/domain/attempt/attempt.js';
import type { AttemptReport } from '../../src/domain/attempt/attempt-report.js';
import { createdAt } from '../../src/domain/basics/id-time.js';
import { newId } from '../../src/domain/basics/ids.js';
import type { DeliveryRecord } from '../../src/domain/delivery/delivery.js';
import { GROUP_VERSION, type LiveGroup } from '../../src/domain/delivery/delivery-group.js';
import { type GroupInput, inputOf } from '../../src/domain/delivery/group-input.js';
import { DEFAULT_RETRY_SCHEDULE } from '../../src/domain/endpoint/retry-schedule.js';
import { deliveryWorkflowId, groupWorkflowId } from '../../src/domain/ledger/workflow-ids.js';
import type { AttemptOrders } from '../../src/domain/records/row/attempt-orders.js';
import { TIMINGS } from '../../src/domain/timings.js';
import { BUNDLE_PATH } from '../../src/temporal/server/bundle.js';
import { connectTemporal, type TemporalConnection } from '../../src/temporal/server/connection.js';
import { workflowSinks } from '../../src/temporal/server/sinks.js';
import type { deliver } from '../../workflows/index.js';
import { release } from '../../workflows/messages.js';
import { untilAtRest } from '../support/history.js';
import { answered } from '../support/parts/answered.js';
import { groupOf } from '../support/parts/group-of.js';
import { startStubWorker } from '../support/parts/stub-worker.js';
import { temporalOfRun } from '../support/servers.js';
import { until } from '../support/until.js';

describe('deliver', () => {
  let temporal: TemporalConnection;

  before(async () => {
    temporal = await connectTemporal(temporalOfRun());
  });
  after(() => temporal.close());

  /** Runs one delivery over an attempt of the test's own. */
  async function run(
    attempt: (which: { number: number; trigger?: Trigger; lost_tries?: number }) => Promise<AttemptReport>,
    schedule: readonly number[],
  ): Promise<DeliveryRecord | undefined> {
    const key = { account_id: newId('account'), event_id: newId('event'), endpoint_id: newId('endpoint') };
    const workflowId = deliveryWorkflowId(key.account_id, key);
    const taskQueue = `stub-${key.event_id}`;
    let told: DeliveryRecord | undefined;
    const made = async ({ orders }: AttemptOrders) => ({
      reports: await Promise.all(orders.map((order) => attempt(order.attempt))),
      kept: false,
    });
    const stop = await startStubWorker(temporal, taskQueue, {
      attemptFirst: made,
      attemptMembers: made,
      keepRows: async ({ deliveries }) => {
        told = deliveries[0]?.snapshot.record;
        return true;
      },
    });
    try {
      const args: [LiveGroup] = [groupOf(key, { schedule })];
      await temporal.client.workflow.execute<typeof deliver>('deliver', { workflowId, taskQueue, args });
    } catch (error) {
      assert.ok(error instanceof WorkflowFailedError && error.cause instanceof ApplicationFailure);
      assert.equal(error.cause.type, told?.status);
    } finally {
      await stop();
    }
    return told;
  }

  it('makes an attempt that could not be made durably, counts it once, and says that it may have been sent, also after a wait', async () => {
    let calls = 0;
    const lost: unknown[] = [];
    const record = await run(
      async (which) => {
        calls += 1;
        lost.push(which.lost_tries);
        if (calls <= 2) throw new Error('the endpoints cannot be read');
        if (calls === 3) return { kind: 'not_attempted', endpoint: 'failing', since: '', look_again_ms: 1 };
        return answered(calls === 4 ? 500 : 200, which);
      },
      [1],
    );
    assert.equal(calls, 5);
    // A local activity that has failed may have sent it before.
    assert.deepEqual(lost, [undefined, 1, 1, 1, undefined]);
    assert.equal(record?.status, 'delivered');
    assert.deepEqual(
      record?.attempts.map(({ number }) => number),
      [1, 2],
    );
  });

  it('tells of a release with the attempt that it leads to, again if its row is not kept, and before it if it is old', async () => {
    for (const version of [undefined, GROUP_VERSION]) {
      const key = { account_id: newId('account'), event_id: newId('event'), endpoint_id: newId('endpoint') };
      const { endpoint_id } = key;
      const taskQueue = `stub-${key.event_id}`;
      const steps: string[] = [];
      let calls = 0;
      const failing = {
        kind: 'not_attempted',
        endpoint: 'failing',
        since: '',
        look_again_ms: 3_600_000,
      } as const;
      const stop = await startStubWorker(temporal, taskQueue, {
        attemptMembers: async ({ orders }) => {
          calls += 1;
          steps.push(...orders.map(({ said = [] }) => `attempt ${said.map(({ type }) => type)}`));
          if (calls === 1) return { reports: [failing], kept: true };
          return calls === 2 ? { reports: [null], kept: false } : { reports: [answered(200)], kept: true };
        },
        keepRows: async ({ deliveries }) => {
          steps.push(...deliveries.map(({ said = [] }) => `keep ${said.map(({ type }) => type)}`));
          return true;
        },
      });
      try {
        const args: [LiveGroup] = [
          groupOf(key, {
            ...(version && { version }),
            isolated: true,
            timings: { ...TIMINGS, group_broken_ms: 1 },
          }),
        ];
        const workflowId = deliveryWorkflowId(key.account_id, key);
        const { client } = temporal;
        const handle = await client.workflow.start<typeof deliver>('deliver', {
          workflowId,
          taskQueue,
          args,
        });
        await until(async () => steps.includes('attempt '), Boolean);
        // A release that comes with the end of the attempt finds nothing that waits.
        await untilAtRest({ temporal }, workflowId);
        await handle.signal(release, { endpoint_id });
        await handle.result();
      } finally {
        await stop();
      }
      const told = version ? [] : ['keep released'];
      const given = version ? 'attempt released' : 'attempt ';
      assert.deepEqual(steps, ['keep ', 'attempt ', ...told, given, given]);
    }
  });

  it('takes a group as versions before started it, with whole events, to its end and to the same rows', async () => {
    const [account_id, endpoint_id] = [newId('account'), newId('endpoint')];
    const events = [1, 2, 3].map(() => {
      const event_id = newId('event');
      return { account_id, event_id, event_kind: 'purchase', accepted_at: createdAt(event_id) };
    });
    const group: LiveGroup = {
      ...groupOf({ account_id, event_id: '', endpoint_id }, { schedule: [1] }),
      events,
      deliveries: events.map((_, event) => ({ event, endpoint_id })),
    };
    const inputs: GroupInput[] = [group, { version: GROUP_VERSION, ...inputOf(group) }];
    for (const input of inputs) {
      const taskQueue = `stub-${newId('group')}`;
      const rows = new Map<string, string>();
      const inColumns: unknown[] = [];
      /** The first is delivered at once, the second with its second attempt, the third not at all. */
      const made = async ({ orders, in_columns }: AttemptOrders) => {
        inColumns.push(in_columns);
        const reports = orders.map(({ attempt, event }) => {
          assert.deepEqual(event, events[attempt.index]);
          return answered(attempt.number > attempt.index && attempt.index < 2 ? 200 : 500, attempt);
        });
        return { reports, kept: false };
      };
      const stop = await startStubWorker(temporal, taskQueue, {
        attemptFirst: made,
        attemptMembers: made,
        keepRows: async ({ deliveries }) => {
          for (const { event_id, snapshot } of deliveries)
            rows.set(event_id, `${snapshot.record.status} ${snapshot.record.attempts.length}`);
          return true;
        },
      });
      const workflowId = groupWorkflowId(newId('group'));
      const { workflow } = temporal.client;
      try {
        const args: [GroupInput] = [input];
        const result = await workflow.execute<typeof deliver>('deliver', { workflowId, taskQueue, args });
        assert.deepEqual(result, { delivered: 2, exhausted: 1 });
      } finally {
        await stop();
      }
      assert.deepEqual(
        events.map(({ event_id }) => rows.get(event_id)),
        ['delivered 1', 'delivered 2', 'exhausted 2'],
      );
      // The code before does not read columns.
      assert.deepEqual(inColumns, input === group ? [undefined, undefined] : [true, true]);
      // As a process does it that goes on with what another one has begun.
      const history = await workflow.getHandle(workflowId).fetchHistory();
      // In the debug mode, the SDK's promise hooks would slow all later tests of this process.
      const options = {
        workflowBundle: { codePath: BUNDLE_PATH },
        sinks: workflowSinks(() => {}),
        debugMode: false,
      };
      await Worker.runReplayHistory(options, history, workflowId);
    }
  });

  it('goes through the whole default schedule, scaled down a hundred thousand times', async () => {
    const schedule = DEFAULT_RETRY_SCHEDULE.map((wait) => Math.max(1, Math.round(wait / 100_000)));
    const times: number[] = [];
    const record = await run(async (which) => {
      times.push(Date.now());
      return answered(503, which);
    }, schedule);
    assert.equal(record?.status, 'exhausted');
    assert.deepEqual(
      record?.attempts.map(({ number }) => number),
      [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
    );
    for (const [index, wait] of schedule.entries()) {
      const waited = (times[index + 1] ?? 0) - (times[index] ?? 0);
      assert.ok(waited >= wait, `attempt ${index + 2} came after ${waited} ms, not ${wait}`);
    }
  });
});
