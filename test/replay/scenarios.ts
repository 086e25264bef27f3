import { registerDirectly } from '../../bench/support/endpoints.js';
import { newId } from '../../src/domain/basics/ids.js';
import type { AttemptReport } from '../../src/domain/delivery/attempt-report.js';
import {
  deliveryWorkflowId,
  fanOutWorkflowId,
  groupWorkflowId,
  incidentWorkflowId,
  releaseWorkflowId,
} from '../../src/domain/ledger/workflow-ids.js';
import type { endpointIncident } from '../../workflows/index.js';
import { attemptFailed, attemptSucceeded, type FailureReport } from '../../workflows/messages.js';
import type { ApiClient } from '../support/api-client.js';
import { PURCHASE } from '../support/api-client.js';
import { workflowIdOf } from '../support/history.js';
import { inTurn, type Receiver, reply } from '../support/receiver.js';
import { startStubWorker } from '../support/stub-worker.js';
import type { TestSystem } from '../support/system.js';
import { until } from '../support/until.js';

/** Where a scenario is played: a system, a client of it, and a receiver that answers 200. */
export interface Stage {
  system: TestSystem;
  client: ApiClient;
  receiver: Receiver;
}

/** An execution. */
export interface Run {
  workflowId: string;
  /** The latest run, where it is absent. */
  runId?: string;
}

/** One way through a workflow. It resolves once the execution has closed. */
export interface Scenario {
  settings?: Record<string, string>;
  play(stage: Stage): Promise<Run>;
}

const SLOW = { HOOKLINE_RETRY_SCHEDULE: '1h' };

/** Every way through the workflows whose history is kept, by the name of its file. */
export const SCENARIOS: Record<string, Scenario> = {
  'deliver-event-first-success': {
    play: async (stage) => closed(stage, await start(stage)),
  },
  'deliver-event-retry-then-success': {
    settings: { HOOKLINE_RETRY_SCHEDULE: '20ms,20ms' },
    async play(stage) {
      stage.receiver.handle(inTurn(reply(500), reply(503, { 'retry-after': '1' }), reply(200)));
      return closed(stage, await start(stage));
    },
  },
  'deliver-event-exhausted': {
    settings: { HOOKLINE_RETRY_SCHEDULE: '20ms,20ms' },
    async play(stage) {
      stage.receiver.handle(reply(500));
      return closed(stage, await start(stage));
    },
  },
  'deliver-event-retried-by-hand': {
    settings: SLOW,
    async play(stage) {
      const id = await retrying(stage);
      await act(stage, id, 'retry');
      await stage.client.deliveryUntil(id, ({ attempts }) => attempts.length === 2);
      stage.receiver.handle(reply(200));
      await act(stage, id, 'retry');
      return closed(stage, id);
    },
  },
  'deliver-event-cancelled-by-update': {
    settings: SLOW,
    async play(stage) {
      const id = await retrying(stage);
      await act(stage, id, 'cancel');
      return closed(stage, id);
    },
  },
  'deliver-event-cancelled-by-temporal': {
    settings: SLOW,
    async play(stage) {
      const id = await retrying(stage);
      await stage.system.temporal.client.workflow.getHandle(workflowIdOf(stage.client, id)).cancel();
      return closed(stage, id);
    },
  },
  'deliver-event-paused-and-resumed': {
    settings: { HOOKLINE_RETRY_SCHEDULE: '3s' },
    async play(stage) {
      const id = await retrying(stage);
      await act(stage, id, 'pause');
      stage.receiver.handle(reply(200));
      await act(stage, id, 'resume');
      return closed(stage, id);
    },
  },
  'deliver-event-gone-and-released': {
    async play(stage) {
      stage.receiver.handle(inTurn(reply(410), reply(200)));
      const { id: endpointId } = await stage.client.register(stage.receiver.url);
      const id = await purchase(stage);
      await untilParked(stage, id);
      const body = { target_url: stage.receiver.url, event_kinds: ['purchase'] };
      await stage.client.request('PUT', `/v18.0/endpoints/${endpointId}`, { body });
      return closed(stage, id);
    },
  },
  'deliver-event-expired': {
    settings: { HOOKLINE_PARK_LIMIT: '200ms' },
    async play(stage) {
      await stage.client.register(stage.receiver.url, { status: 'paused' });
      return closed(stage, await purchase(stage));
    },
  },
  'deliver-event-endpoint-deleted': {
    async play(stage) {
      const { id: endpointId } = await stage.client.register(stage.receiver.url, { status: 'paused' });
      const id = await purchase(stage);
      await untilParked(stage, id);
      await stage.client.request('DELETE', `/v18.0/endpoints/${endpointId}`);
      return closed(stage, id);
    },
  },
  'deliver-event-first-attempt-not-made': {
    async play({ system }) {
      const key = { event_id: newId('event'), endpoint_id: newId('endpoint') };
      const accountId = newId('account');
      const workflowId = deliveryWorkflowId(accountId, key);
      const taskQueue = `stub-${key.event_id}`;
      const stop = await startStubWorker(system.temporal, taskQueue, {
        attemptDelivery: failingOnce({
          kind: 'attempted',
          outcome: 'delivered',
          attempt: {
            number: 1,
            at: '2026-01-31T12:00:00.000Z',
            duration_ms: 1,
            url_host: 'example.com',
            status_code: 200,
            trigger: 'schedule',
          },
        }),
      });
      try {
        await system.temporal.client.workflow.execute('deliverEvent', {
          workflowId,
          taskQueue,
          args: [
            {
              ...key,
              account_id: accountId,
              event_kind: 'purchase',
              payload: PURCHASE,
              accepted_at: '2026-01-31T12:00:00.000Z',
              schedule: [1_000],
              attempt_timeout_ms: 1_000,
              park_limit_ms: 1_000,
            },
          ],
        });
      } finally {
        await stop();
      }
      return { workflowId };
    },
  },
  'fan-out-event-to-none': {
    async play(stage) {
      const event = await stage.client.purchase();
      return execution(stage, fanOutWorkflowId(stage.client.accountId, event.id));
    },
  },
  'fan-out-event-to-many': {
    async play(stage) {
      for (let count = 0; count < 12; count++) await stage.client.register(stage.receiver.url);
      const event = await stage.client.purchase();
      return execution(stage, fanOutWorkflowId(stage.client.accountId, event.id));
    },
  },
  'fan-out-event-in-two-batches': {
    async play(stage) {
      const { accountId } = stage.client;
      const urls = Array.from({ length: 601 }, () => stage.receiver.url);
      await registerDirectly(stage.system.database.endpoints, accountId, urls);
      const event = await stage.client.purchase();
      return execution(stage, fanOutWorkflowId(accountId, event.id));
    },
  },
  'deliver-group-all-delivered': {
    play: (stage) => group(stage),
  },
  'deliver-group-some-handed-over': {
    settings: SLOW,
    async play(stage) {
      const failing = ['/3', '/7'];
      stage.receiver.handle((request, ...rest) =>
        reply(failing.includes(request.url ?? '') ? 500 : 200)(request, ...rest),
      );
      return group(stage);
    },
  },
  'release-parked': {
    async play(stage) {
      const { id: endpointId } = await stage.client.register(stage.receiver.url, { status: 'paused' });
      await untilParked(stage, await purchase(stage));
      const body = { target_url: stage.receiver.url, event_kinds: ['purchase'] };
      await stage.client.request('PUT', `/v18.0/endpoints/${endpointId}`, { body });
      return execution(stage, releaseWorkflowId(endpointId));
    },
  },
  'deliver-event-resent': {
    async play(stage) {
      const id = await start(stage);
      await closed(stage, id);
      await stage.client.request('POST', `/v18.0/deliveries/${id}/resend`);
      return closed(stage, id);
    },
  },
  'endpoint-incident-recovered': {
    settings: SLOW,
    async play(stage) {
      const id = await retrying(stage);
      stage.receiver.handle(reply(200));
      await act(stage, id, 'retry');
      return incident(stage);
    },
  },
  'endpoint-incident-disabled': {
    settings: {
      HOOKLINE_RETRY_SCHEDULE: Array.from({ length: 40 }, () => '100ms').join(','),
      HOOKLINE_DISABLE_AFTER: '1500ms',
      HOOKLINE_PROBE_INTERVAL: '60ms',
    },
    async play(stage) {
      await retrying(stage);
      return incident(stage);
    },
  },
  'endpoint-incident-gone': {
    async play(stage) {
      stage.receiver.handle(reply(410));
      await untilParked(stage, await start(stage));
      return incident(stage);
    },
  },
  'endpoint-incident-continued-as-new': {
    play: async (stage) => (await failingAgain(stage)).first,
  },
  'endpoint-incident-continued-from-another': {
    play: async (stage) => (await failingAgain(stage)).second,
  },
};

/** The first group of an event for twelve endpoints, at paths of their own. */
async function group(stage: Stage): Promise<Run> {
  for (let count = 0; count < 12; count++) await stage.client.register(`${stage.receiver.url}/${count}`);
  const event = await stage.client.purchase();
  await execution(stage, fanOutWorkflowId(stage.client.accountId, event.id));
  return execution(stage, groupWorkflowId(`${event.id}:0`));
}

/** An incident whose endpoint fails again while its recovery is being noted, so that it goes on as a new one; that one recovers. */
async function failingAgain({ system }: Stage): Promise<{ first: Run; second: Run }> {
  const { workflow } = system.temporal.client;
  const endpoint = { account_id: newId('account'), endpoint_id: newId('endpoint') };
  const workflowId = incidentWorkflowId(endpoint.account_id, endpoint.endpoint_id);
  const taskQueue = `stub-${endpoint.endpoint_id}`;
  const failed: FailureReport = { count: 1, said: 'answered 500', at: '2026-01-31T12:00:00.000Z' };
  let releases = 0;
  const stop = await startStubWorker(system.temporal, taskQueue, {
    markEndpoint: async () => 'active',
    emitOperationalEvent: async () => {},
    async releaseEndpoint() {
      releases += 1;
      if (releases === 1) await workflow.getHandle(workflowId).signal(attemptFailed, failed);
    },
  });
  try {
    const handle = await workflow.signalWithStart<typeof endpointIncident, [FailureReport]>(
      'endpointIncident',
      {
        workflowId,
        taskQueue,
        args: [{ endpoint, disable_after_ms: 3_600_000, probe_interval_ms: 60_000 }],
        signal: attemptFailed,
        signalArgs: [failed],
      },
    );
    const latest = async () => (await workflow.getHandle(workflowId).describe()).runId;
    await handle.signal(attemptSucceeded);
    const runId = await until(latest, (id) => id !== handle.signaledRunId);
    await workflow.getHandle(workflowId, runId).signal(attemptSucceeded);
    await workflow.getHandle(workflowId, runId).result();
    return { first: { workflowId, runId: handle.signaledRunId }, second: { workflowId, runId } };
  } finally {
    await stop();
  }
}

/** The incident of the account's only endpoint, once it is over. */
async function incident(stage: Stage): Promise<Run> {
  const [endpoint] = (await stage.client.request('GET', '/v18.0/endpoints')).json.data;
  return execution(stage, incidentWorkflowId(stage.client.accountId, endpoint.id));
}

async function start(stage: Stage): Promise<string> {
  await stage.client.register(stage.receiver.url);
  return purchase(stage);
}

async function purchase({ client }: Stage): Promise<string> {
  const event = await client.purchase();
  return event.deliveries[0]?.id ?? '';
}

async function retrying(stage: Stage): Promise<string> {
  stage.receiver.handle(reply(500));
  const id = await start(stage);
  await stage.client.deliveryUntil(id, ({ status }) => status === 'retrying');
  return id;
}

/** Waits until a delivery is parked, and visibility knows it: what is released is found there. */
async function untilParked({ client }: Stage, id: string): Promise<void> {
  await until(
    async () => (await client.request('GET', '/v18.0/deliveries?status=parked')).json.data,
    (parked) => parked.some((one: { id: string }) => one.id === id),
  );
}

async function act({ client }: Stage, id: string, action: string): Promise<void> {
  const answer = await client.request('POST', `/v18.0/deliveries/${id}/${action}`);
  if (answer.status !== 200) throw new Error(`${action}: ${answer.text}`);
}

function closed(stage: Stage, deliveryId: string): Promise<Run> {
  return execution(stage, workflowIdOf(stage.client, deliveryId));
}

/** The execution, once it has closed, however it did. */
async function execution({ system }: Stage, workflowId: string): Promise<Run> {
  await system.temporal.client.workflow
    .getHandle(workflowId)
    .result()
    .catch(() => {});
  return { workflowId };
}

function failingOnce(report: AttemptReport): () => Promise<AttemptReport> {
  let calls = 0;
  return async () => {
    calls += 1;
    if (calls === 1) throw new Error('the endpoints cannot be read');
    return report;
  };
}
