import { parseHttpDate } from './http-date.js';

/** The longest wait an endpoint can ask for, in milliseconds: 72 hours. Longer waits are cut to this. */
export const MAX_RETRY_AFTER_MS = 72 * 3_600_000;

/**
 * Reads a `Retry-After` header: a number of seconds or an HTTP date in any of its three forms (RFC 9110, section
 * 10.2.3).
 *
 * @param value the header's value
 * @param now milliseconds since the epoch when the response arrived
 * @returns the time before which not to call again, in milliseconds since the epoch and at most 72 hours ahead;
 *   `undefined` if the value is absent, unreadable or past
 */
export function parseRetryAfter(value: string | undefined, now: number): number | undefined {
  const text = value?.trim();
  if (!text) return undefined;
  const until = /^\d+$/.test(text) ? now + Number(text) * 1_000 : parseHttpDate(text, now);
  if (until === undefined || until <= now) return undefined;
  return Math.min(until, now + MAX_RETRY_AFTER_MS);
}
