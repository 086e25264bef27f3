import type { Logger } from 'pino';
import { isDatabaseUnavailable } from '../../models/mongo/unavailable.js';
import { isTemporalUnavailable } from '../../temporal/errors.js';

/**
 * Does something again and again, once at a time.
 *
 * @param work must not fail; long work ends soon after the signal is aborted
 * @param now whether it is done at once as well, and not only after the first interval
 * @returns stops it, and resolves when what is under way is done
 */
export function repeat(
  intervalMs: number,
  work: (stopping: AbortSignal) => Promise<void>,
  { now = false } = {},
): () => Promise<void> {
  const stopping = new AbortController();
  let working: Promise<void> | undefined;
  const begin = () => {
    working ??= work(stopping.signal).finally(() => {
      working = undefined;
    });
  };
  if (now) begin();
  const timer = setInterval(begin, intervalMs);
  return async () => {
    clearInterval(timer);
    stopping.abort();
    await working;
  };
}

const isOutOfReach = (error: unknown) => isDatabaseUnavailable(error) || isTemporalUnavailable(error);

/**
 * Warns of an error, unless a server is out of reach: an outage is logged once, by who notices it first, and not with
 * each try.
 *
 * @param isOutage the errors of which nothing is said; absent: those of MongoDB and of Temporal
 */
export function warnUnlessOutage(
  logger: Logger,
  warning: string,
  isOutage = isOutOfReach,
): (error: unknown) => void {
  return (error) => {
    if (!isOutage(error)) logger.warn({ err: error }, warning);
  };
}
