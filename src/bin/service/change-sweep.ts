import type { Logger } from 'pino';
import type { ChangeRepository } from '../../models/change/changes.js';
import { isDatabaseUnavailable } from '../../models/mongo/unavailable.js';

/** How often the changes that a crash left in their resources are looked for, milliseconds. */
const SWEEP_INTERVAL_MS = 60_000;

/** Moves the changes that a crash left in their resources, now and each minute. @returns stops it */
export function sweepChanges(changes: ChangeRepository, logger: Logger): () => void {
  let isSweeping = false;
  let isStopped = false;
  const sweep = async (): Promise<void> => {
    if (isSweeping) return;
    isSweeping = true;
    try {
      await changes.collect();
    } catch (error) {
      // An outage is logged once, by who notices it first, and not each minute.
      if (!isStopped && !isDatabaseUnavailable(error))
        logger.warn(
          { err: error },
          'Changes could not be moved to their collection. This is tried again in a minute.',
        );
    } finally {
      isSweeping = false;
    }
  };
  void sweep();
  const timer = setInterval(sweep, SWEEP_INTERVAL_MS);
  return () => {
    isStopped = true;
    clearInterval(timer);
  };
}
