import { newId } from '../../../src/domain/basics/ids.js';
import { incidentWorkflowId, releaseWorkflowId } from '../../../src/domain/ledger/workflow-ids.js';
import type { endpointIncident } from '../../../workflows/index.js';
import { attemptFailed, attemptSucceeded, type FailureReport } from '../../../workflows/messages.js';
import { reply } from '../../support/receiver.js';
import { startStubWorker } from '../../support/stub-worker.js';
import { until } from '../../support/until.js';
import {
  act,
  execution,
  purchase,
  type Run,
  retrying,
  type Scenarios,
  SLOW,
  type Stage,
  start,
  untilParked,
} from './stage.js';

/** Every way through the workflows that look after an endpoint. */
export const ENDPOINTS: Scenarios = {
  'release-parked': {
    async play(stage) {
      const { id: endpointId } = await stage.client.register(stage.receiver.url, { status: 'paused' });
      await untilParked(stage, await purchase(stage));
      const body = { target_url: stage.receiver.url, event_kinds: ['purchase'] };
      await stage.client.request('PUT', `/v18.0/endpoints/${endpointId}`, { body });
      return execution(stage, releaseWorkflowId(endpointId));
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
