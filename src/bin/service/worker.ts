import type { ActivityDependencies } from '../../../activities/ports.js';
import type { Settings } from '../../config/schema.js';
import type { Closing } from '../../domain/stats/closing.js';
import { ClosedExecutionFinder } from '../../temporal/read/archive/closed-windows.js';
import { type RunningWorker, startWorker, type WorkerSettings } from '../../temporal/server/worker.js';
import type { DeliveryStarter } from '../../temporal/write/delivery-starter.js';
import { createAccountRemoval } from './account/account-removal.js';
import { type Attempts, USER_AGENT } from './attempts.js';
import { endpointDirectory, pendingEndpoints } from './endpoint-ports.js';
import { createLedger, createReplayLedger } from './ledger.js';
import { createErasures } from './privacy/erasures.js';
import type { Servers } from './servers.js';
import type { AlertPorts } from './watch/alerts.js';

/** Beyond an attempt's own limit, before a worker that stops gives up waiting for it, milliseconds. */
const SHUTDOWN_MARGIN_MS = 5_000;

/** Starts the worker of this process. @param bundlePath the workflows' code @param closed is called with deliveries that have just been closed */
export function runWorker(
  settings: Settings,
  servers: Servers,
  ports: Attempts & AlertPorts & Pick<ActivityDependencies, 'log'>,
  starter: DeliveryStarter,
  bundlePath: string,
  closed: (closings: readonly Closing[]) => void,
): Promise<RunningWorker> {
  const { database, temporal } = servers;
  const ledger = createLedger(servers, starter);
  return startWorker(
    temporal,
    {
      namespace: settings.TEMPORAL_NAMESPACE,
      taskQueue: settings.HOOKLINE_TASK_QUEUE,
      bundlePath,
      closed,
      deployment: deploymentOf(settings),
      isolatedAttempts: settings.HOOKLINE_ISOLATED_ATTEMPTS,
      shutdownGraceMs: settings.HOOKLINE_ATTEMPT_TIMEOUT + SHUTDOWN_MARGIN_MS,
    },
    {
      endpoints: endpointDirectory(database.endpoints),
      pending: pendingEndpoints(database.endpoints, starter),
      publicUrl: settings.HOOKLINE_PUBLIC_URL,
      ...ports,
      ledger: starter,
      timings: settings.HOOKLINE_TEST_TIME_SCALE,
      replays: createReplayLedger(servers, ledger),
      accounts: createAccountRemoval(settings, servers, ledger.control),
      archive: database.archive,
      ends: database.ends,
      closed: new ClosedExecutionFinder({
        client: temporal.client,
        taskQueue: settings.HOOKLINE_TASK_QUEUE,
        sealer: servers.sealer,
        archive: database.archive,
      }),
      erasures: createErasures(servers, ledger.control),
      userAgent: USER_AGENT,
    },
  );
}

function deploymentOf(settings: Settings): WorkerSettings['deployment'] {
  const { HOOKLINE_WORKER_DEPLOYMENT: name, HOOKLINE_BUILD_ID: buildId } = settings;
  return name === undefined ? undefined : { name, buildId };
}
