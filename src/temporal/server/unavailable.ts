import { visibilityBusy } from '../errors.js';

/**
 * gRPC codes that the server or the connection gives when a later try may succeed: cancelled, which is what the SDK makes of a deadline
 * that has passed, deadline exceeded, resource exhausted, unavailable.
 */
const TEMPORARY_CODES = new Set([1, 4, 8, 14]);

/** Whether an error means that Temporal cannot be reached, does not answer or has no room at the moment. */
export function isTemporalUnavailable(error: unknown): boolean {
  if (visibilityBusy(error)) return true;
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (
      'code' in cause &&
      typeof cause.code === 'number' &&
      TEMPORARY_CODES.has(cause.code) &&
      'details' in cause
    )
      return true;
  }
  return false;
}
