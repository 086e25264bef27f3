import type { Activities } from '../../../activities/index.js';
import type { Trigger } from '../../../src/domain/attempt/attempt.js';
import type { AttemptReport } from '../../../src/domain/attempt/attempt-report.js';

/**
 * The report of an attempt that was answered, for activities of a test's own: with 200 it is delivered, with another
 * status it has failed.
 *
 * @param at when it began, milliseconds since the epoch
 */
export function answered(
  status_code: number,
  { number = 1, trigger = 'schedule' }: { number?: number; trigger?: Trigger } = {},
  at = Date.now(),
  duration_ms = 1,
): AttemptReport {
  return {
    kind: 'attempted',
    outcome: status_code === 200 ? 'delivered' : 'failed',
    attempt: {
      number,
      at: new Date(at).toISOString(),
      duration_ms,
      url: 'https://shop.example/',
      status_code,
      trigger,
    },
  };
}

/** Makes first attempts that are all answered so. @param kept their rows are kept: the workflow does not have it done */
export function firstAnswered(status_code: number, kept = false): Activities['attemptFirst'] {
  return async ({ group }) => ({ reports: group.deliveries.map(() => answered(status_code)), kept });
}
