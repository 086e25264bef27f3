/** gRPC codes that a server gives, or the connection, when a later try may go well: deadline exceeded, resource exhausted, unavailable. */
const TEMPORARY_CODES = new Set([4, 8, 14]);

/** Whether an error means that Temporal is out of reach, or has no room, for the moment. */
export function isTemporalUnavailable(error: unknown): boolean {
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
