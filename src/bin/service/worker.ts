import type { ActivityDependencies } from '../../../activities/index.js';
import type { SubjectErasures } from '../../../activities/privacy/erase-subject.js';
import type { Settings } from '../../config/schema.js';
import type { Attempt } from '../../domain/attempt/attempt.js';
import { withTimeout } from '../../domain/basics/with-timeout.js';
import { factsOf } from '../../domain/delivery/carried.js';
import type { NamedEvent } from '../../domain/delivery/delivery.js';
import type { Closing } from '../../domain/stats/closing.js';
import { MAX_AWAITED_DELIVERIES } from '../../domain/view/event-outcome.js';
import { TerminatedExecutionFinder } from '../../temporal/read/records/terminated-executions.js';
import { type RunningWorker, startWorker, type WorkerSettings } from '../../temporal/server/worker.js';
import { SubjectDeliveries } from '../../temporal/write/privacy/subject-deliveries.js';
import { createAccountRemoval } from './account-removal.js';
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
  ports: Attempts & AlertPorts & Pick<ActivityDependencies, 'log' | 'sendScheduled'>,
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
      pending: pendingEndpoints(database, ledger.starter),
      publicUrl: settings.HOOKLINE_PUBLIC_URL,
      ...ports,
      ledger: ledger.starter,
      timings: settings.HOOKLINE_TEST_TIME_SCALE,
      replays: createReplayLedger(servers, ledger),
      accounts: createAccountRemoval(database, ledger),
      removePayloads: () => database.records.removePayloads(),
      rows: createKeeper(servers),
      deliveriesOf: outcomeReader(database),
      sealAttempt: createAttemptSealer(servers),
      ends: database.ends,
      terminated: new TerminatedExecutionFinder({
        client: temporal.client,
        taskQueue: settings.HOOKLINE_TASK_QUEUE,
        events: database.events,
        rows: database.records.search,
      }),
      erasures: createErasures(servers, ledger),
      userAgent: USER_AGENT,
    },
  );
}

/** Reads the deliveries of an event that is waited for. */
function outcomeReader({ events, records }: Servers['database']): ActivityDependencies['deliveriesOf'] {
  return async ({ account_id, event_id }) => {
    const rows = await records.deliveriesOf(account_id, [event_id], MAX_AWAITED_DELIVERIES);
    if (rows.length === 0 && (await events.stored([event_id])).size === 0) return undefined;
    return rows
      .map(({ id, endpoint_id, status }) => ({ id, endpoint_id, status }))
      .sort((a, b) => (a.id < b.id ? -1 : 1));
  };
}

/** Time to seal an attempt, milliseconds: the key of its event is remembered, as it was attempted a moment ago. */
const SEALED_WITHIN_MS = 1_000;

/**
 * Seals an attempt for a history, with the key of its event. Where that cannot be had, or nothing is encrypted, only
 * what rules need is left.
 */
function createAttemptSealer({ database, sealer }: Servers): ActivityDependencies['sealAttempt'] {
  const seal = async (event: NamedEvent, attempt: Attempt) => {
    const key = sealer.encrypts ? database.payloads.keyOf(event) : undefined;
    const context = { accountId: event.account_id, eventId: event.event_id };
    return key && withTimeout(SEALED_WITHIN_MS, sealer.sealBeside(context, key, JSON.stringify(attempt)));
  };
  return async (event, report) => {
    if (report.kind !== 'attempted') return report;
    const { attempt } = report;
    const sealed = event && (await seal(event, attempt).catch(() => undefined));
    return { ...report, attempt: { ...factsOf(attempt), ...(sealed && { sealed }) } };
  };
}

function deploymentOf(settings: Settings): WorkerSettings['deployment'] {
  const { HOOKLINE_WORKER_DEPLOYMENT: name, HOOKLINE_BUILD_ID: buildId } = settings;
  return name === undefined ? undefined : { name, buildId };
}

/** Steps of erasures, for their activities. */
function createErasures(
  { database: { records, dataKeys, erasures, privateInputs, scheduled } }: Servers,
  { control }: Ledger,
): SubjectErasures {
  const deliveries = new SubjectDeliveries(records.search, control);
  return {
    async begin(plan) {
      const origin = await privateInputs.originOf(plan.origin);
      await erasures.begin(plan, await deliveries.scope(plan), origin);
    },
    countOpen: (plan) => deliveries.countOpen(plan),
    async eraseKey(plan) {
      await dataKeys.erase(plan.account_id, plan.key_id);
      await scheduled.removeOfKey(plan.account_id, plan.key_id);
      await erasures.erased(plan);
    },
    cancelOpen: (plan, onProgress) => deliveries.cancelOpen(plan, onProgress),
    complete: (plan, cancelled) => erasures.complete(plan, cancelled),
  };
}
