import type { Logger } from 'pino';
import type { ChangeRepository } from '../../models/change/changes.js';

/** How often the changes that a crash left in their resources are looked for, milliseconds. */
const SWEEP_INTERVAL_MS = 60_000;

/** Moves the changes that a crash left in their resources, now and each minute. @returns stops it, and waits for a sweep under way */
export function sweepChanges(changes: ChangeRepository, logger: Logger): () => Promise<void> {
  let sweep: Promise<void> | undefined;
  const begin = () => {
    sweep ??= changes
      .collect()
      .catch((error: unknown) =>
        logger.warn({ err: error }, 'changes could not be moved; tried again in a minute'),
      )
      .finally(() => {
        sweep = undefined;
      });
  };
  begin();
  const timer = setInterval(begin, SWEEP_INTERVAL_MS);
  return async () => {
    clearInterval(timer);
    await sweep;
  };
}
