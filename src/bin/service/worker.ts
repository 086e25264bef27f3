import type { Settings } from '../../config/schema.js';
import { type RunningWorker, startWorker } from '../../temporal/server/worker.js';
import type { DeliveryStarter } from '../../temporal/write/delivery-starter.js';
import { type Attempts, USER_AGENT } from './attempts.js';
import { endpointDirectory, pendingEndpoints } from './endpoint-ports.js';
import type { Servers } from './servers.js';

/** Beyond an attempt's own limit, before a worker that stops gives up waiting for it, milliseconds. */
const SHUTDOWN_MARGIN_MS = 5_000;

/** Starts the worker of this process. @param bundlePath the workflows' code */
export function runWorker(
  settings: Settings,
  { database, temporal }: Servers,
  attempts: Attempts,
  starter: DeliveryStarter,
  bundlePath: string,
): Promise<RunningWorker> {
  return startWorker(
    temporal,
    {
      namespace: settings.TEMPORAL_NAMESPACE,
      taskQueue: settings.HOOKLINE_TASK_QUEUE,
      bundlePath,
      isolatedAttempts: settings.HOOKLINE_ISOLATED_ATTEMPTS,
      shutdownGraceMs: settings.HOOKLINE_ATTEMPT_TIMEOUT + SHUTDOWN_MARGIN_MS,
    },
    {
      endpoints: endpointDirectory(database.endpoints),
      pending: pendingEndpoints(database.endpoints, starter),
      publicUrl: settings.HOOKLINE_PUBLIC_URL,
      ...attempts,
      ledger: starter,
      userAgent: USER_AGENT,
    },
  );
}
