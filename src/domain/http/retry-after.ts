import { UNITS } from '../basics/duration.js';
import { parseHttpDate } from './http-date.js';

/** The longest wait an endpoint can ask for, in milliseconds: 72 hours. Longer waits are cut to this. */
export const MAX_RETRY_AFTER_MS = 72 * UNITS.h;

/**
 * Reads a `Retry-After` header: a number of seconds or an HTTP date in any of its three forms (RFC 9110, section
 * 10.2.3).
 *
 * @param value the header's value
 * @param now milliseconds since the epoch when the response arrived
 * @param date the response's `Date` header: a date that the endpoint asks for is by its own clock
 * @returns how long not to call again, milliseconds and at most 72 hours; `undefined` if the value is absent,
 *   unreadable or past
 */
export function parseRetryAfter(
  value: string | undefined,
  now: number,
  date?: string | undefined,
): number | undefined {
  const text = value?.trim();
  if (!text) return undefined;
  const wait = /^\d+$/.test(text) ? Number(text) * 1_000 : waitUntil(text, now, date?.trim());
  return wait !== undefined && wait > 0 ? Math.min(wait, MAX_RETRY_AFTER_MS) : undefined;
}

function waitUntil(text: string, now: number, date: string | undefined): number | undefined {
  const until = parseHttpDate(text, now);
  if (until === undefined) return undefined;
  return until - ((date && parseHttpDate(date, now)) || now);
}
