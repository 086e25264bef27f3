import type { Trigger } from '../../../src/domain/attempt/attempt.js';
import type { AttemptReport } from '../../../src/domain/attempt/attempt-report.js';
import type { AttemptOrders, MadeAttempts } from '../../../src/domain/records/row/attempt-orders.js';

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

/** Makes attempts that are all answered so, and leaves it to the workflow to have their rows kept. */
export function answering(status_code: number) {
  return async ({ orders }: AttemptOrders): Promise<MadeAttempts> => ({
    reports: orders.map(({ attempt }) => answered(status_code, attempt)),
    kept: false,
  });
}
