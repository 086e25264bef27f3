/** The longest wait an endpoint can ask for, in milliseconds: 72 hours. Longer waits are cut to this. */
export const MAX_RETRY_AFTER_MS = 72 * 3_600_000;

const IMF_FIXDATE = /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/**
 * Reads a `Retry-After` header: a number of seconds or an HTTP date (RFC 9110, section 10.2.3).
 *
 * @param value the header's value
 * @param now milliseconds since the epoch when the answer arrived
 * @returns the time before which not to call again, in milliseconds since the epoch and at most 72 hours ahead;
 *   `undefined` if the value is absent, unreadable or past
 */
export function parseRetryAfter(value: string | undefined, now: number): number | undefined {
  const text = value?.trim();
  if (!text) return undefined;
  const until = /^\d+$/.test(text)
    ? now + Number(text) * 1_000
    : IMF_FIXDATE.test(text)
      ? Date.parse(text)
      : Number.NaN;
  if (Number.isNaN(until) || until <= now) return undefined;
  return Math.min(until, now + MAX_RETRY_AFTER_MS);
}
