import type { EarlyAttempts } from '../../../../activities/delivery/early-attempts.js';
import { warnUnlessOutage } from '../../process/repeat.js';
import { keepChanges } from '../change-sweep.js';
import { createStartMetrics } from '../counts/call-metrics.js';
import { createLedger, createStarter, keepStarting } from '../ledger.js';
import type { LogWatch } from '../log/log-watch.js';
import { emitProfileEvents } from '../profile-events.js';
import { keepNumbers } from '../sequence/keep-numbers.js';
import { createRestoreWatch } from '../sequence/restore-watch.js';
import { stopLimits, stopSideBySide } from '../stops.js';
import type { ProcessParts } from './process-parts.js';

/** Parts that store events, number them, and start their deliveries. Workers send events too. */
export type Intake = ReturnType<typeof startIntake>;

/**
 * @param work of this process, if it works. `earlyAttempts` begin attempts as soon as their event is stored: only where
 * API and worker share a process
 */
export function startIntake(
  parts: ProcessParts,
  work: { logWatch?: LogWatch; earlyAttempts?: EarlyAttempts } = {},
) {
  const { settings, servers, logger, knowledge, registry, stops, serves, works, writes } = parts;
  const starter = createStarter(settings, servers, knowledge, work.earlyAttempts, {
    observer: createStartMetrics(registry),
    onTrouble: warnUnlessOutage(logger, 'Deliveries could not be started. This is tried again in seconds.'),
  });
  const ledger = createLedger(settings, servers, starter);
  // Before it is looked for what others have left to be told.
  emitProfileEvents(servers, starter, logger);
  stops.add(keepChanges(servers, ledger, logger));
  const restores = createRestoreWatch(settings, servers, logger);
  const { stop, ...numbers } = keepNumbers(servers, { restores, logWatch: work.logWatch }, logger);
  writes.add(stop);
  // After both: an execution that is started late runs in another process, which waits for these rows.
  stops.add(() => starter.allKept());
  stops.add(() => stopSideBySide(stopLimits(settings.HOOKLINE_ATTEMPT_TIMEOUT), serves, works));
  // After the last request, and before the worker stops, which makes the first attempts of what is started.
  serves.add(keepStarting(settings.HOOKLINE_TEST_TIME_SCALE, servers, starter, logger));
  return { starter, ledger, restores, ...numbers };
}
