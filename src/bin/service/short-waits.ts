import type { Logger } from 'pino';
import { TIMINGS, type Timings } from '../../domain/timings.js';

/** Warns of a service that does not wait as long as its rules say: outside tests it is wrong. */
export function warnOfShortWaits(timings: Timings, logger: Pick<Logger, 'warn'>): void {
  if (timings === TIMINGS) return;
  logger.warn(
    'HOOKLINE_TEST_TIME_SCALE is set: waits are shorter than what relies on them, such as erasures. It is for tests; unset it, and start again.',
  );
}
