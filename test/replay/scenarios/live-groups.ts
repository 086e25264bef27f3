import type { WorkflowHandle } from '@temporalio/client';
import type { Duration } from '@temporalio/common';
import type { Attempt } from '../../../src/domain/attempt/attempt.js';
import type { AttemptReport } from '../../../src/domain/attempt/attempt-report.js';
import { newId } from '../../../src/domain/basics/ids.js';
import { GROUP_VERSION, GroupMachine, type LiveGroup } from '../../../src/domain/delivery/delivery-group.js';
import type { HeldBack } from '../../../src/domain/endpoint/breaker/circuit-breaker.js';
import { groupWorkflowId } from '../../../src/domain/ledger/workflow-ids.js';
import { release as releaseWaiting } from '../../../src/temporal/write/parked-deliveries.js';
import type { deliver } from '../../../workflows/index.js';
import { release } from '../../../workflows/messages.js';
import { eventTypes, fetchHistory } from '../../support/history.js';
import { startStubAttempts, startStubWorker, startStubWorkflows } from '../../support/parts/stub-worker.js';
import { inTurn, reply } from '../../support/receiver.js';
import { until } from '../../support/until.js';
import { act, execution, firstRun, type Run, type Scenarios, SLOW, type Stage } from './stage.js';

const ENDPOINTS = 12;
const AT = '2026-01-31T12:00:00.000Z';

/** Their endpoint fails: they look again in an hour. */
const FAILING: HeldBack = {
  kind: 'not_attempted',
  endpoint: 'failing',
  since: AT,
  look_again_ms: 3_600_000,
};

/** Every way through `deliver` with several deliveries. */
export const LIVE_GROUPS: Scenarios = {
  'deliver-many-all-delivered': {
    play: async (stage) => closed(stage, (await start(stage)).groupId),
  },
  'deliver-many-delivered-in-columns': {
    play: async (stage) => closed(stage, (await start(stage)).groupId),
  },
  'deliver-many-continued': {
    settings: { HOOKLINE_RETRY_SCHEDULE: Array.from({ length: 8 }, () => '20ms').join(',') },
    suggestAfter: 20,
    async play(stage) {
      const always = Array.from({ length: 9 }, () => 500);
      failAt(stage, ['/3', '/7'], ...always);
      return firstRun(stage, { workflowId: (await start(stage)).groupId });
    },
  },
  'deliver-many-exhausted': {
    settings: { HOOKLINE_RETRY_SCHEDULE: '20ms' },
    async play(stage) {
      failAt(stage, ['/3', '/7'], 500, 500);
      return closed(stage, (await start(stage)).groupId);
    },
  },
  'deliver-many-released-at-its-end': {
    play: ({ system }) => releasedAtItsEnd(system),
  },
  'deliver-many-acted-on': {
    settings: SLOW,
    async play(stage) {
      failAt(stage, ['/3', '/7'], 500);
      const { eventId, groupId } = await start(stage);
      const [first = '', second = ''] = await untilListed(stage, eventId, 'retrying', 2);
      await act(stage, first, 'pause');
      await act(stage, second, 'retry');
      await act(stage, first, 'resume');
      await act(stage, first, 'cancel');
      return closed(stage, groupId);
    },
  },
  'deliver-many-probed': {
    async play({ system }) {
      const reports = [[delivered(), delivered()], [failed()], [delivered(2)]];
      return withStub({ system }, reports, async (group, run) => {
        const endpoint_id = group.deliveries[0]?.endpoint_id ?? '';
        const handle = await run({ ...group, isolated: true, held: { [endpoint_id]: FAILING } });
        const ended = async (count: number) =>
          eventTypes(await fetchHistory(system, handle.workflowId)).filter(
            (type) => type === 'ACTIVITY_TASK_COMPLETED',
          ).length === count;
        await until(() => ended(1), Boolean);
        await handle.signal(release, { endpoint_id, limit: 1, probe: true });
        await until(() => ended(2), Boolean);
        await handle.signal(release, { endpoint_id });
      });
    },
  },
  'deliver-many-waiting-from-its-start': {
    async play({ system }) {
      const { client } = system.temporal;
      const reports = [[delivered()], [delivered(), delivered()]];
      return withStub({ system }, reports, async (group, run, taskQueue) => {
        const endpoints = group.deliveries.map(({ endpoint_id }) => endpoint_id);
        const held = Object.fromEntries(endpoints.map((endpoint_id) => [endpoint_id, FAILING]));
        const { workflowId } = await run({ ...group, isolated: true, held }, '1h');
        const [first = '', ...others] = endpoints;
        const waiting = waitingIn(group, workflowId, taskQueue);
        await releaseWaiting(client, [waiting], first);
        for (const endpoint_id of others) await releaseWaiting(client, [waiting], endpoint_id, true);
      });
    },
  },
  'deliver-many-busy-and-released-directly': {
    async play({ system }) {
      const look_again_ms = 3_600_000;
      const busy: AttemptReport = {
        kind: 'not_attempted',
        endpoint: 'busy',
        in_flight: 64,
        look_again_ms,
      };
      return withStub(
        { system },
        [[busy, busy, busy], [delivered()], [null], [delivered()], [delivered()]],
        async (group, run) => {
          const handle = await run({ ...group, isolated: true });
          const [first = '', second = '', third = ''] = group.deliveries.map(
            ({ endpoint_id }) => endpoint_id,
          );
          const types = async () => eventTypes(await fetchHistory(system, handle.workflowId));
          const upserted = 'UPSERT_WORKFLOW_SEARCH_ATTRIBUTES';
          await until(types, (all) => all.includes(upserted));
          await handle.signal(release, { endpoint_id: first, direct: true });
          await until(types, (all) => all.includes('MARKER_RECORDED'));
          await handle.signal(release, { endpoint_id: second, direct: true });
          await until(types, (all) => all.filter((type) => type === 'ACTIVITY_TASK_COMPLETED').length === 2);
          await handle.signal(release, { endpoint_id: third });
        },
      );
    },
  },
  'deliver-many-released-and-told-with-attempts': {
    async play({ system }) {
      const reports = [[null], [delivered()], [delivered()], [delivered()]];
      return withStub({ system }, reports, async (group, run, taskQueue) => {
        const endpoints = group.deliveries.map(({ endpoint_id }) => endpoint_id);
        const held = Object.fromEntries(endpoints.map((endpoint_id) => [endpoint_id, FAILING]));
        const version = GROUP_VERSION;
        const handle = await run({ ...group, version, isolated: true, held }, '1h');
        const { workflowId } = handle;
        const waiting = waitingIn(group, workflowId, taskQueue);
        const [first = '', ...others] = endpoints;
        await releaseWaiting(system.temporal.client, [waiting], first);
        const types = async () => eventTypes(await fetchHistory(system, workflowId));
        await until(types, (all) => all.filter((type) => type === 'ACTIVITY_TASK_COMPLETED').length === 2);
        for (const endpoint_id of others) await handle.signal(release, { endpoint_id, direct: true });
      });
    },
  },
  'deliver-many-carried-on': {
    async play({ system }) {
      return withStub({ system }, [[delivered(2), delivered(2), delivered(2)]], async (group, run) => {
        const machine = new GroupMachine(group, Date.now());
        machine.settle(machine.firstAttempts, [failed(), failed(), failed()], Date.now());
        await run({ ...group, so_far: machine.snapshots });
      });
    },
  },
};

/** Answers requests at these paths with these statuses in turn, then and elsewhere with 200. */
function failAt({ receiver }: Stage, paths: readonly string[], ...statuses: number[]): void {
  const [first = reply(200), ...more] = statuses.map((status) => reply(status));
  const failing = new Map(paths.map((path) => [path, inTurn(first, ...more, reply(200))]));
  const succeed = reply(200);
  receiver.handle((request, ...rest) => (failing.get(request.url ?? '') ?? succeed)(request, ...rest));
}

/** One event to twelve endpoints, at paths of their own: one group. */
async function start(
  stage: Stage,
  firstStatus = 'active',
): Promise<{ eventId: string; groupId: string; endpointIds: string[] }> {
  const endpointIds: string[] = [];
  for (let index = 0; index < ENDPOINTS; index++) {
    const status = index === 0 ? firstStatus : 'active';
    endpointIds.push((await stage.client.register(`${stage.receiver.url}/${index}`, { status })).id);
  }
  const { id: eventId } = await stage.client.purchase();
  return { eventId, groupId: groupWorkflowId(`${eventId}:0`), endpointIds };
}

/** A group that waits from its start, as a release finds it. */
function waitingIn(group: LiveGroup, workflowId: string, begins: string) {
  const accountId = group.events[0]?.account_id ?? '';
  return { id: '', accountId, workflowId, begins, attempts: 0, startedAt: new Date().toISOString() };
}

/** Waits until an event has so many deliveries of that status in the list. @returns their ids */
async function untilListed({ client }: Stage, eventId: string, status: string, count = 1): Promise<string[]> {
  const path = `/v18.0/deliveries?event_id=${eventId}&status=${status}`;
  const found = await until(
    async (): Promise<{ id: string }[]> => (await client.request('GET', path)).json.data,
    ({ length }) => length === count,
  );
  return found.map(({ id }) => id);
}

function closed(stage: Stage, workflowId: string): Promise<Run> {
  return execution(stage, workflowId);
}

/** Plays a group of three deliveries whose attempts are reported as given: by call, and by attempt. */
async function withStub(
  { system }: Pick<Stage, 'system'>,
  reports: (AttemptReport | null)[][],
  play: (
    group: LiveGroup,
    run: (input: LiveGroup, startDelay?: Duration) => Promise<WorkflowHandle<typeof deliver>>,
    taskQueue: string,
  ) => Promise<unknown>,
): Promise<Run> {
  const { workflow } = system.temporal.client;
  const event = {
    account_id: newId('account'),
    event_id: newId('event'),
    event_kind: 'purchase',
    accepted_at: AT,
  };
  const deliveries = Array.from({ length: 3 }, () => ({ event: 0, endpoint_id: newId('endpoint') }));
  const settings = { schedule: [50], attempt_timeout_ms: 1_000, park_limit_ms: 3_600_000 };
  const workflowId = groupWorkflowId(event.event_id);
  const taskQueue = `stub-${event.event_id}`;
  const stop = await startStubWorker(system.temporal, taskQueue, {
    attemptMembers: async () => ({ reports: reports.shift() ?? [], kept: true }),
    attemptReleased: async () => ({ reports: reports.shift() ?? [], kept: true }),
    keepRows: async () => true,
  });
  try {
    const run = (input: LiveGroup, startDelay?: Duration) =>
      workflow.start<typeof deliver>('deliver', {
        ...{ workflowId, taskQueue, args: [input] },
        ...(startDelay !== undefined && { startDelay }),
      });
    await play({ ...settings, events: [event], deliveries }, run, taskQueue);
    await workflow.getHandle(workflowId).result();
  } finally {
    await stop();
  }
  return { workflowId };
}

/**
 * The last reports of a group and a release reach its workflow in one task, because no worker of it runs in between.
 */
async function releasedAtItsEnd({ temporal }: Stage['system']): Promise<Run> {
  const { workflow } = temporal.client;
  const event_id = newId('event');
  const [workflowId, taskQueue, endpoint_id] = [
    groupWorkflowId(event_id),
    `stub-${event_id}`,
    newId('endpoint'),
  ];
  const account_id = newId('account');
  const event = { account_id, event_id, event_kind: 'purchase', accepted_at: AT };
  const activities = {
    attemptFirst: async () => ({ reports: [failed()], kept: true }),
    attemptMembers: async () => ({ reports: [delivered(2)], kept: true }),
    keepRows: async () => true,
  };
  const has = async (type: string): Promise<boolean> =>
    eventTypes(await fetchHistory({ temporal }, workflowId)).includes(type);

  let stopWorkflows = await startStubWorkflows(temporal, taskQueue, activities);
  await workflow.start<typeof deliver>('deliver', {
    workflowId,
    taskQueue,
    args: [
      {
        events: [event],
        deliveries: [{ event: 0, endpoint_id }],
        schedule: [50],
        attempt_timeout_ms: 1_000,
        park_limit_ms: 3_600_000,
      },
    ],
  });
  await until(() => has('ACTIVITY_TASK_SCHEDULED'), Boolean);
  await stopWorkflows();
  const stopAttempts = await startStubAttempts(temporal, taskQueue, activities);
  await until(() => has('ACTIVITY_TASK_COMPLETED'), Boolean);
  await workflow.getHandle(workflowId).signal(release, { endpoint_id, limit: 1, most: 3 });
  stopWorkflows = await startStubWorkflows(temporal, taskQueue, activities);
  await workflow.getHandle(workflowId).result();
  await Promise.all([stopWorkflows(), stopAttempts()]);
  return { workflowId };
}

function delivered(number = 1): AttemptReport {
  return { kind: 'attempted', outcome: 'delivered', attempt: attempt(number, 200) };
}

function failed(more: Partial<Attempt> = {}): AttemptReport {
  return { kind: 'attempted', outcome: 'failed', attempt: { ...attempt(1, 503), ...more } };
}

function attempt(number: number, status_code: number) {
  const trigger = 'schedule' as const;
  return { number, at: AT, duration_ms: 1, status_code, trigger };
}
