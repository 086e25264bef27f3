import { WorkflowContinuedAsNewError } from '@temporalio/client';
import { newId } from '../../../src/domain/basics/ids.js';
import { BACKOFF_AFTER_FAILURES } from '../../../src/domain/endpoint/breaker/circuit-breaker.js';
import type { FailureReport } from '../../../src/domain/endpoint/breaker/incident.js';
import type { NamedEndpoint } from '../../../src/domain/ledger/summaries.js';
import { incidentWorkflowId } from '../../../src/domain/ledger/workflow-ids.js';
import type { Incidents } from '../../../src/temporal/write/incidents.js';
import type { endpointIncident } from '../../../workflows/index.js';
import { attemptFailed, attemptSucceeded, endpointGone } from '../../../workflows/messages.js';
import { reporter } from '../../support/parts/incidents.js';
import { startStubWorker } from '../../support/parts/stub-worker.js';
import { reply } from '../../support/receiver.js';
import { until } from '../../support/until.js';
import {
  act,
  execution,
  firstRun,
  purchase,
  type Run,
  replaceEndpoint,
  retrying,
  type Scenario,
  type Scenarios,
  SLOW,
  type Stage,
} from './stage.js';

/** An incident with deliveries that wait, a probe and a release. */
const LONG_INCIDENT: Scenario = {
  settings: { ...SLOW, HOOKLINE_PROBE_INTERVAL: '1s' },
  async play(stage) {
    await stage.client.register(stage.receiver.url);
    stage.receiver.handle(reply(500));
    await Promise.all(Array.from({ length: 12 }, () => failOnce(stage)));
    const send = async () =>
      stage.client.deliveryUntil(await purchase(stage), ({ status }) => status !== 'delivering');
    await until(send, ({ status }) => status === 'parked');
    stage.receiver.handle(reply(200));
    return incident(stage);
  },
};

/** Every way through the incidents of endpoints. */
export const INCIDENTS: Scenarios = {
  'endpoint-incident-long': LONG_INCIDENT,
  'endpoint-incident-continued': {
    ...LONG_INCIDENT,
    suggestAfter: 20,
    play: async (stage) => firstRun(stage, await LONG_INCIDENT.play(stage)),
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
  'endpoint-incident-gone-elsewhere': {
    settings: SLOW,
    async play(stage) {
      const id = await retrying(stage);
      const [{ id: endpointId }] = (await stage.client.request('GET', '/v18.0/endpoints')).json.data;
      const { workflow } = stage.system.temporal.client;
      const workflowId = incidentWorkflowId(stage.client.accountId, endpointId);
      const formerVersion = 0;
      await workflow.getHandle(workflowId).signal(endpointGone, 'evt_former:1', formerVersion);
      stage.receiver.handle(reply(200));
      await act(stage, id, 'retry');
      return incident(stage);
    },
  },
  'endpoint-incident-superseded': {
    settings: { HOOKLINE_RETRY_SCHEDULE: '1h', HOOKLINE_PROBE_INTERVAL: '100ms' },
    async play(stage) {
      const { id } = await stage.client.register(stage.receiver.url);
      stage.receiver.handle(reply(500));
      // Backing off: it probes, and then finds that its owner has paused the endpoint.
      for (let failures = 0; failures < 10; failures += 1) await failOnce(stage);
      await replaceEndpoint(stage, id, { status: 'paused' });
      return incident(stage);
    },
  },
  'endpoint-incident-lapsed': {
    settings: { HOOKLINE_RETRY_SCHEDULE: '1h', HOOKLINE_DISABLE_AFTER: '1s' },
    async play(stage) {
      await retrying(stage);
      return incident(stage);
    },
  },
  'endpoint-incident-failing-while-it-ends': {
    play: (stage) =>
      whileItEnds(stage, (second, endpoint) => second.failed(endpoint, 'got a 503 response', Date.now())),
  },
  'endpoint-incident-recovering-while-it-ends': {
    play: (stage) =>
      whileItEnds(stage, async (second, endpoint) => {
        for (let failures = 0; failures < BACKOFF_AFTER_FAILURES; failures += 1)
          await second.failed(endpoint, 'got a 503 response', Date.now());
        await second.succeeded(endpoint, Date.now());
      }),
  },
  'endpoint-incident-gone-while-it-ends': {
    play: (stage) => whileItEnds(stage, (second, endpoint) => second.gone(endpoint, 'evt_1:1', 1)),
  },
  'endpoint-incident-continued-as-new': { play: failingAgain },
  'endpoint-incident-breaker-opened': { play: breakerOpened },
};

/** An incident that hears of few failures, of a process that has opened the circuit breaker, and probes. */
async function breakerOpened({ system }: Stage): Promise<Run> {
  const { workflow } = system.temporal.client;
  const endpoint = { account_id: newId('account'), endpoint_id: newId('endpoint') };
  const workflowId = incidentWorkflowId(endpoint.account_id, endpoint.endpoint_id);
  const taskQueue = `stub-${endpoint.endpoint_id}`;
  const stop = await startStubWorker(system.temporal, taskQueue, {
    openIncident: async () => 'active',
    markEndpoint: async () => 'active',
    probeEndpoint: async () => workflow.getHandle(workflowId).signal(attemptSucceeded),
    closeIncident: async () => {},
  });
  try {
    const input = { endpoint, disable_after_ms: 3_600_000, probe_interval_ms: 1_000, failing_for_ms: 0 };
    const failed: FailureReport = { count: 1, said: 'got a 500 response', ago_ms: 0, opens_breaker: true };
    const { signaledRunId: runId } = await workflow.signalWithStart<typeof endpointIncident, [FailureReport]>(
      'endpointIncident',
      { workflowId, taskQueue, args: [input], signal: attemptFailed, signalArgs: [failed] },
    );
    await workflow.getHandle(workflowId, runId).result();
    return { workflowId, runId };
  } finally {
    await stop();
  }
}

/**
 * An incident whose endpoint fails again while its recovery is being noted, so that it goes on as a new one; that one
 * recovers.
 */
async function failingAgain({ system }: Stage): Promise<Run> {
  const { workflow } = system.temporal.client;
  const endpoint = { account_id: newId('account'), endpoint_id: newId('endpoint') };
  const workflowId = incidentWorkflowId(endpoint.account_id, endpoint.endpoint_id);
  const taskQueue = `stub-${endpoint.endpoint_id}`;
  const failed: FailureReport = { count: 1, said: 'got a 500 response', ago_ms: 0 };
  let ends = 0;
  const stop = await startStubWorker(system.temporal, taskQueue, {
    openIncident: async () => 'active',
    async closeIncident() {
      ends += 1;
      if (ends === 1) await workflow.getHandle(workflowId).signal(attemptFailed, failed);
    },
  });
  try {
    const handle = await workflow.signalWithStart<typeof endpointIncident, [FailureReport]>(
      'endpointIncident',
      {
        workflowId,
        taskQueue,
        args: [
          {
            endpoint,
            disable_after_ms: 3_600_000,
            probe_interval_ms: 60_000,
            failing_for_ms: 0,
          },
        ],
        signal: attemptFailed,
        signalArgs: [failed],
      },
    );
    const latest = async () => (await workflow.getHandle(workflowId).describe()).runId;
    await handle.signal(attemptSucceeded);
    const runId = await until(latest, (id) => id !== handle.signaledRunId);
    await workflow.getHandle(workflowId, runId).signal(attemptSucceeded);
    await workflow.getHandle(workflowId, runId).result();
    return { workflowId, runId: handle.signaledRunId };
  } finally {
    await stop();
  }
}

/** An incident of which a second process reports something while its end is being noted. */
async function whileItEnds(
  { system }: Stage,
  report: (second: Incidents, endpoint: NamedEndpoint) => Promise<unknown>,
): Promise<Run> {
  const endpoint = { account_id: newId('account'), endpoint_id: newId('endpoint'), host: 'shop.example' };
  const taskQueue = `stub-${endpoint.endpoint_id}`;
  const settings = { client: system.temporal.client, disableAfterMs: 3_600_000, probeIntervalMs: 60_000 };
  const { incidents: first } = reporter({ ...settings, taskQueue });
  const { incidents: second } = reporter({ ...settings, taskQueue });
  await first.failed(endpoint, 'got a 500 response', Date.now());
  const stop = await startStubWorker(system.temporal, taskQueue, {
    openIncident: async () => 'active',
    closeIncident: async () => void (await report(second, endpoint)),
    disableEndpoint: async () => true,
    emitOperationalEvent: async () => {},
    releaseEndpoint: async () => {},
  });
  try {
    const workflowId = incidentWorkflowId(endpoint.account_id, endpoint.endpoint_id);
    const { runId } = await system.temporal.client.workflow.getHandle(workflowId).describe();
    await first.succeeded(endpoint, Date.now());
    await system.temporal.client.workflow
      .getHandle(workflowId, runId, { followRuns: false })
      .result()
      .catch((error: unknown) => {
        if (!(error instanceof WorkflowContinuedAsNewError)) throw error;
      });
    return { workflowId, runId };
  } finally {
    await stop();
  }
}

/** The incident of the account's only endpoint, once it is over. */
async function incident(stage: Stage): Promise<Run> {
  const [endpoint] = (await stage.client.request('GET', '/v18.0/endpoints')).json.data;
  return execution(stage, incidentWorkflowId(stage.client.accountId, endpoint.id));
}

async function failOnce(stage: Stage): Promise<void> {
  const id = await purchase(stage);
  await stage.client.deliveryUntil(id, ({ status }) => status !== 'delivering');
}
