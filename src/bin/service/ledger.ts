import type { EarlyAttempts } from '../../../activities/delivery/early-attempts.js';
import type { Settings } from '../../config/schema.js';
import type { EndpointHealth } from '../../domain/endpoint/endpoint-health.js';
import { DeliveryStarter } from '../../temporal/write/delivery-starter.js';
import { Incidents } from '../../temporal/write/incidents.js';
import type { StartObserver } from '../../temporal/write/start-calls.js';
import type { Servers } from './servers.js';

/** What opens and closes the incidents of failing endpoints. */
export function createIncidents(settings: Settings, { temporal: { client } }: Servers): Incidents {
  return new Incidents({
    client,
    taskQueue: settings.HOOKLINE_TASK_QUEUE,
    disableAfterMs: settings.HOOKLINE_DISABLE_AFTER,
    probeIntervalMs: settings.HOOKLINE_PROBE_INTERVAL,
  });
}

/** @param earlyAttempts makes attempts as soon as their start is persisted: only where API and worker share a process */
export function createStarter(
  settings: Settings,
  { temporal: { client } }: Servers,
  health: EndpointHealth,
  earlyAttempts: EarlyAttempts | undefined,
  observer?: StartObserver,
): DeliveryStarter {
  return new DeliveryStarter({
    client,
    taskQueue: settings.HOOKLINE_TASK_QUEUE,
    earlyAttempts,
    observer,
    startsInFlight: settings.HOOKLINE_GROUP_COMMIT === 'on' ? settings.HOOKLINE_STARTS_IN_FLIGHT : 0,
    health,
    releasePerSecond: settings.HOOKLINE_RELEASE_RATE,
    maxFirstAttempts: settings.HOOKLINE_MAX_FIRST_ATTEMPTS,
    settings: {
      schedule: settings.HOOKLINE_RETRY_SCHEDULE,
      attempt_timeout_ms: settings.HOOKLINE_ATTEMPT_TIMEOUT,
      park_limit_ms: settings.HOOKLINE_PARK_LIMIT,
    },
  });
}
