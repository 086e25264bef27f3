import type { Logger } from 'pino';
import { isDatabaseUnavailable } from '../../models/mongo/unavailable.js';
import { isTemporalUnavailable } from '../../temporal/errors.js';

/**
 * Does something again and again, once at a time.
 *
 * @param work must not fail
 * @returns stops it, and resolves when what is under way is done
 */
export function repeat(intervalMs: number, work: () => Promise<void>): () => Promise<void> {
  let working: Promise<void> | undefined;
  const timer = setInterval(() => {
    working ??= work().finally(() => {
      working = undefined;
    });
  }, intervalMs);
  return async () => {
    clearInterval(timer);
    await working;
  };
}

/**
 * Warns of an error, unless a server is out of reach: an outage is logged once, by who notices it first, and not with
 * each try.
 */
export function warnUnlessOutage(logger: Logger, warning: string): (error: unknown) => void {
  return (error) => {
    if (!isDatabaseUnavailable(error) && !isTemporalUnavailable(error)) logger.warn({ err: error }, warning);
  };
}
