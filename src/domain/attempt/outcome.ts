import { parseRetryAfter } from '../http/retry-after.js';
import type { Attempt } from './attempt.js';

/**
 * Outcome of an attempt for its delivery: `delivered`; `failed`, to be retried as the schedule says; `gone`, the
 * subscriber wants no more of these (RFC 9110, section 15.5.11; Standard Webhooks specification, "Delivery
 * considerations"); `blocked`, its URL leads to an address that is not allowed. Trying a blocked one again by the clock
 * would make this service a scanner of inner networks, so it waits until the endpoint's URL is changed, or somebody
 * asks for an attempt.
 */
export type Outcome = 'delivered' | 'failed' | 'gone' | 'blocked';

/** The part of a response, or of its absence, that decides the outcome. */
export type Answer = Pick<Attempt, 'status_code' | 'error_code'> & {
  /** The `Retry-After` header as it came. */
  retry_after?: string | undefined;
  /** The `Date` header as it came. */
  date?: string | undefined;
};

/** Decision about an attempt. */
export interface Decision {
  outcome: Outcome;
  /** The endpoint asked not to be called for so long. Milliseconds. */
  retry_after_ms?: number;
}

/**
 * Answers with which an endpoint may say, by `Retry-After`, when to come back (RFC 9110, section 10.2.3; RFC 6585,
 * section 4).
 */
const MAY_DEFER = new Set([429, 503]);

/** Whether a status means that the subscriber has taken the event. */
export function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

/**
 * Decides an attempt; every response there can be, and every way to get none, is decided here and nowhere else. Any 2xx
 * is success. A redirect is not followed and so is a failure. `410` ends the endpoint. Every other response or error is
 * worth another try: an endpoint's owner can mend a 404, a certificate or a body limit within the days that the
 * schedule lasts.
 *
 * @param now milliseconds since the epoch when the response arrived
 */
export function decide(answer: Answer, now: number): Decision {
  const { status_code: status, error_code, retry_after, date } = answer;
  if (status === undefined) return { outcome: error_code === 'blocked_address' ? 'blocked' : 'failed' };
  if (isSuccess(status)) return { outcome: 'delivered' };
  if (status === 410) return { outcome: 'gone' };
  const retry_after_ms = MAY_DEFER.has(status) ? parseRetryAfter(retry_after, now, date) : undefined;
  return { outcome: 'failed', ...(retry_after_ms !== undefined && { retry_after_ms }) };
}

/** An attempt, human-readable: `got a 503 response`, `failed: no response within 5s`. */
export function describeAttempt(attempt: Pick<Attempt, 'status_code' | 'error_code' | 'error'>): string {
  return attempt.status_code !== undefined
    ? `got a ${attempt.status_code} response`
    : `failed: ${attempt.error ?? attempt.error_code}`;
}
