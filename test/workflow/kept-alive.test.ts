import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from '@temporalio/worker';
import { newId } from '../../src/domain/basics/ids.js';
import { BACKOFF_AFTER_FAILURES } from '../../src/domain/endpoint/breaker/circuit-breaker.js';
import { STATUS_ATTRIBUTE } from '../../src/domain/ledger/search-attributes.js';
import { TIMINGS } from '../../src/domain/timings.js';
import { BUNDLE_PATH } from '../../src/temporal/server/bundle.js';
import { connectTemporal, type TemporalConnection } from '../../src/temporal/server/connection.js';
import { workflowSinks } from '../../src/temporal/server/sinks.js';
import type { deliver, endpointIncident } from '../../workflows/index.js';
import { attemptFailed, attemptSucceeded, release } from '../../workflows/messages.js';
import { answered } from '../support/parts/answered.js';
import { groupOf } from '../support/parts/group-of.js';
import { startStubWorker } from '../support/parts/stub-worker.js';
import { temporalOfRun } from '../support/servers.js';
import { until } from '../support/until.js';

/**
 * A task with a local activity is kept alive after four fifths of its time, by another task. The last fifth is what a
 * busy machine may need for that.
 */
const TASK_TIMEOUT = '5s';
const LONGER_MS = 5_000;
/** Between what has passed since the first of the two tasks when the local activity ends, and since the second. */
const BETWEEN_MS = 3_000;
/** The same for the activity that keeps rows, which may take three seconds. */
const ROWS = { taskTimeout: '2s', longerMs: 2_200 };

/**
 * A replay takes tasks that were kept alive for one, with the time of the last from its beginning. So nothing that the
 * workflow does may depend on when its first task began by the clock, or the execution can never go on in another
 * process.
 */
describe('a workflow whose first task was kept alive', () => {
  const taskQueue = `kept-alive-${newId('event')}`;
  const [group, incident, released] = [newId('event'), newId('event'), newId('event')];
  const told = newId('event');
  const endpoints = [newId('endpoint'), newId('endpoint')] as const;
  let releases = 0;
  let temporal: TemporalConnection;
  let stop = async () => {};
  let probes = 0;
  /** The first turn in which a workflow has rows kept by themselves. */
  let firstTurn: number | undefined;

  before(async () => {
    temporal = await connectTemporal(temporalOfRun());
    stop = await startStubWorker(temporal, taskQueue, {
      // The second could not be made, so it is under way when it is decided whether the first is shown.
      attemptFirst: async ({ orders, run }) => {
        if (run.workflow_id === told) return { reports: [answered(500)], kept: false };
        if (orders.some(({ endpoint_id }) => endpoint_id === endpoints[0]))
          return { reports: orders.map(() => answered(500)), kept: true };
        await delay(LONGER_MS);
        return { reports: [answered(200), null], kept: true };
      },
      attemptReleased: async ({ orders, asked_at, run }) => {
        if (run.workflow_id === released) {
          releases += 1;
          // The other one is released meanwhile.
          if (releases === 1) await releaseOne(endpoints[1]);
          await delay(LONGER_MS);
        }
        const ended_at = asked_at + LONGER_MS;
        const reports = orders.map(({ attempt }) => ({ ...answered(200, attempt), ended_at }));
        return { reports, kept: true };
      },
      attemptMembers: async ({ orders }) => ({
        reports: orders.map(({ attempt }) => answered(200, attempt)),
        kept: true,
      }),
      keepRows: async ({ run, turn }) => {
        if (run.workflow_id !== told) return true;
        firstTurn ??= turn;
        if (turn > firstTurn) return true;
        // It is released while its row is kept.
        const some = { endpoint_id: endpoints[0], direct: true, sent_at: Date.now() };
        await temporal.client.workflow.getHandle(told).signal(release, some);
        await delay(ROWS.longerMs);
        return true;
      },
      openIncident: () => delay(LONGER_MS).then(() => 'active' as const),
      markEndpoint: async () => 'active' as const,
      probeEndpoint: async () => {
        probes += 1;
        await temporal.client.workflow.getHandle(incident).signal(attemptSucceeded);
      },
      closeIncident: async () => {},
    });
    await Promise.all([deliverGroup(), failUntilProbed(), deliverReleased(), deliverTold()]);
  });
  after(async () => {
    await stop();
    await temporal.close();
  });

  async function deliverGroup(): Promise<void> {
    const key = { account_id: newId('account'), event_id: newId('event'), endpoint_id: newId('endpoint') };
    const deliveries = [key.endpoint_id, newId('endpoint')].map((endpoint_id) => ({ event: 0, endpoint_id }));
    const result = await temporal.client.workflow.execute<typeof deliver>('deliver', {
      workflowId: group,
      taskQueue,
      workflowTaskTimeout: TASK_TIMEOUT,
      args: [groupOf(key, { deliveries, timings: { ...TIMINGS, group_shown_ms: BETWEEN_MS } })],
    });
    assert.equal(result.delivered, 2, 'it delivers what is left');
  }

  const releaseOne = (endpoint_id: string) =>
    temporal.client.workflow
      .getHandle(released)
      .signal(release, { endpoint_id, limit: 1, direct: true, sent_at: Date.now() });

  async function deliverReleased(): Promise<void> {
    const key = { account_id: newId('account'), event_id: newId('event'), endpoint_id: endpoints[0] };
    const deliveries = endpoints.map((endpoint_id) => ({ event: 0, endpoint_id }));
    const { workflow } = temporal.client;
    const handle = await workflow.start<typeof deliver>('deliver', {
      workflowId: released,
      taskQueue,
      workflowTaskTimeout: TASK_TIMEOUT,
      args: [groupOf(key, { deliveries, schedule: [3_600_000] })],
    });
    await until(
      async () => (await handle.describe()).typedSearchAttributes.get(STATUS_ATTRIBUTE),
      (status) => status?.includes('retrying') === true,
    );
    await releaseOne(endpoints[0]);
    assert.equal((await handle.result()).delivered, 2);
    assert.equal(releases, 2, 'each in the direct lane');
  }

  async function deliverTold(): Promise<void> {
    const key = { account_id: newId('account'), event_id: newId('event'), endpoint_id: endpoints[0] };
    const result = await temporal.client.workflow.execute<typeof deliver>('deliver', {
      workflowId: told,
      taskQueue,
      workflowTaskTimeout: ROWS.taskTimeout,
      args: [groupOf(key, { schedule: [3_600_000] })],
    });
    assert.equal(result.delivered, 1);
  }

  async function failUntilProbed(): Promise<void> {
    const failed = { count: BACKOFF_AFTER_FAILURES, said: 'got a 503 response', ago_ms: 0 };
    const handle = await temporal.client.workflow.signalWithStart<typeof endpointIncident, [typeof failed]>(
      'endpointIncident',
      {
        workflowId: incident,
        taskQueue,
        workflowTaskTimeout: TASK_TIMEOUT,
        args: [
          {
            endpoint: { account_id: newId('account'), endpoint_id: newId('endpoint') },
            failing_for_ms: 0,
            disable_after_ms: 60_000,
            probe_interval_ms: 60_000,
            timings: { ...TIMINGS, early_probes_ms: [BETWEEN_MS, 60_000] },
          },
        ],
        signal: attemptFailed,
        signalArgs: [failed],
      },
    );
    assert.equal((await handle.result()).outcome, 'recovered');
    assert.equal(probes, 1);
  }

  for (const [what, workflowId] of [
    ['a group that delivers what is left', group],
    ['an incident that probes its endpoint', incident],
    ['a group of which one is released while another one is attempted', released],
    ['a delivery that is released while its row is kept', told],
  ] as const)
    it(`is replayed: ${what}`, async () => {
      const history = await temporal.client.workflow.getHandle(workflowId).fetchHistory();
      // What was done until then, and who signalled meanwhile, stands between both tasks; a command does not.
      const events = (history.events ?? []).filter(
        (one) => !one.markerRecordedEventAttributes && !one.workflowExecutionSignaledEventAttributes,
      );
      const isKeptAlive = events.some(
        ({ workflowTaskCompletedEventAttributes: ended }, index) =>
          ended && events[index + 1]?.workflowTaskScheduledEventAttributes,
      );
      assert.ok(isKeptAlive, 'its first task was kept alive');
      const options = {
        workflowBundle: { codePath: BUNDLE_PATH },
        sinks: workflowSinks(() => {}),
        // In the debug mode, workflows run in this thread, and the SDK's promise hooks slow all later tests of the
        // process.
        debugMode: false,
      };
      // Rejects with a DeterminismViolationError if it is not.
      await Worker.runReplayHistory(options, history);
    });
});
