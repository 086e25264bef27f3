import type { Settings } from '../../config/schema.js';
import type { Closing } from '../../domain/stats/closing.js';
import { type RunningWorker, startWorker } from '../../temporal/server/worker.js';
import type { DeliveryStarter } from '../../temporal/write/delivery-starter.js';
import { type Attempts, USER_AGENT } from './attempts.js';
import { endpointDirectory, pendingEndpoints } from './endpoint-ports.js';
import { createReplayLedger } from './ledger.js';
import type { Servers } from './servers.js';

/** Beyond an attempt's own limit, before a worker that stops gives up waiting for it, milliseconds. */
const SHUTDOWN_MARGIN_MS = 5_000;

/** Starts the worker of this process. @param bundlePath the workflows' code @param closed is called with deliveries that have just been closed */
export function runWorker(
  settings: Settings,
  { database, temporal }: Servers,
  attempts: Attempts,
  starter: DeliveryStarter,
  bundlePath: string,
  closed: (closings: readonly Closing[]) => void,
): Promise<RunningWorker> {
  return startWorker(
    temporal,
    {
      namespace: settings.TEMPORAL_NAMESPACE,
      taskQueue: settings.HOOKLINE_TASK_QUEUE,
      bundlePath,
      closed,
      isolatedAttempts: settings.HOOKLINE_ISOLATED_ATTEMPTS,
      shutdownGraceMs: settings.HOOKLINE_ATTEMPT_TIMEOUT + SHUTDOWN_MARGIN_MS,
    },
    {
      endpoints: endpointDirectory(database.endpoints),
      pending: pendingEndpoints(database.endpoints, starter),
      publicUrl: settings.HOOKLINE_PUBLIC_URL,
      ...attempts,
      ledger: starter,
      replays: createReplayLedger({ database, temporal }, starter),
      userAgent: USER_AGENT,
    },
  );
}
