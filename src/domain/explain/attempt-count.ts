/**
 * How many attempts there were: "1 attempt", or "at least 1 attempt" if tries of one were lost, which may have arrived,
 * too.
 */
export function attemptCount(attempts: readonly { lost_tries?: number | undefined }[]): string {
  const least = attempts.some(({ lost_tries = 0 }) => lost_tries > 0) ? 'at least ' : '';
  return `${least}${attempts.length} ${attempts.length === 1 ? 'attempt' : 'attempts'}`;
}
