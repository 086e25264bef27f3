import type { ActivityDependencies, SubjectErasures } from '../../../activities/ports.js';
import type { Settings } from '../../config/schema.js';
import type { Closing } from '../../domain/stats/closing.js';
import { TerminatedExecutionFinder } from '../../temporal/read/records/terminated-executions.js';
import { type RunningWorker, startWorker, type WorkerSettings } from '../../temporal/server/worker.js';
import { SubjectDeliveries } from '../../temporal/write/privacy/subject-deliveries.js';
import { createAccountRemoval } from './account/account-removal.js';
import { type Attempts, USER_AGENT } from './attempts.js';
import { endpointDirectory, pendingEndpoints } from './endpoint-ports.js';
import { createKeeper, createReplayLedger, type Ledger } from './ledger.js';
import type { Servers } from './servers.js';
import type { AlertPorts } from './watch/alerts.js';

/**
 * Starts the worker of this process.
 *
 * @param bundlePath the workflows' code
 * @param closed is called with deliveries that have just been closed
 */
export function runWorker(
  settings: Settings,
  servers: Servers,
  ports: Attempts & AlertPorts & Pick<ActivityDependencies, 'log'>,
  ledger: Ledger,
  bundlePath: string,
  closed: (closings: readonly Closing[]) => void,
): Promise<RunningWorker> {
  const { database, temporal } = servers;
  return startWorker(
    temporal,
    {
      namespace: settings.TEMPORAL_NAMESPACE,
      taskQueue: settings.HOOKLINE_TASK_QUEUE,
      bundlePath,
      closed,
      deployment: deploymentOf(settings),
      isolatedAttempts: settings.HOOKLINE_ISOLATED_ATTEMPTS,
      shutdownGraceMs: settings.HOOKLINE_ATTEMPT_TIMEOUT,
    },
    {
      endpoints: endpointDirectory(database.endpoints),
      incidentStore: database.incidents,
      pending: pendingEndpoints(database.endpoints, ledger.starter),
      publicUrl: settings.HOOKLINE_PUBLIC_URL,
      ...ports,
      ledger: ledger.starter,
      timings: settings.HOOKLINE_TEST_TIME_SCALE,
      replays: createReplayLedger(servers, ledger),
      accounts: createAccountRemoval(database, ledger),
      removePayloads: () => database.records.removePayloads(),
      rows: createKeeper(servers),
      sealAnswers: createAnswerSealer(servers),
      ends: database.ends,
      terminated: new TerminatedExecutionFinder(temporal.client, settings.HOOKLINE_TASK_QUEUE),
      erasures: createErasures(servers, ledger),
      userAgent: USER_AGENT,
    },
  );
}

/**
 * Seals what an endpoint answered, for a history: it may have answered with what it was sent. Where it cannot be sealed
 * it is left out.
 */
function createAnswerSealer({ database, sealer }: Servers): ActivityDependencies['sealAnswers'] {
  return async (event, report) => {
    if (report.kind !== 'attempted' || !event) return report;
    const { response_sha256, response_headers, response_snippet, ...attempt } = report.attempt;
    if (!response_headers && response_sha256 === undefined) return report;
    const text = JSON.stringify({ response_sha256, response_headers, response_snippet });
    const { account_id: accountId, event_id: eventId } = event;
    const response_sealed = await database.records.rows
      .eventsOf([eventId])
      .then((events) => sealer.sealBeside({ accountId, eventId }, events.get(eventId)?.key ?? '', text))
      .catch(() => undefined);
    return {
      ...report,
      attempt: { ...attempt, ...(response_sealed !== undefined && { response_sealed }) },
    };
  };
}

function deploymentOf(settings: Settings): WorkerSettings['deployment'] {
  const { HOOKLINE_WORKER_DEPLOYMENT: name, HOOKLINE_BUILD_ID: buildId } = settings;
  return name === undefined ? undefined : { name, buildId };
}

/** What erasures do, for their activities. */
function createErasures(
  { database: { records, dataKeys, erasures } }: Servers,
  { control }: Ledger,
): SubjectErasures {
  const deliveries = new SubjectDeliveries(records.search, control);
  return {
    begin: async (plan) => erasures.begin(plan, await deliveries.scope(plan)),
    countOpen: (plan) => deliveries.countOpen(plan),
    async eraseKey(plan) {
      await dataKeys.erase(plan.account_id, plan.key_id);
      await erasures.erased(plan);
    },
    cancelOpen: (plan, onProgress) => deliveries.cancelOpen(plan, onProgress),
    complete: (plan, cancelled) => erasures.complete(plan, cancelled),
  };
}
