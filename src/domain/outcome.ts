import type { Attempt } from './delivery.js';

/**
 * What an attempt means for its delivery: `delivered`; `failed`, to be tried again as the schedule says; `gone`, the subscriber wants
 * no more of these (RFC 9110, section 15.5.11; Standard Webhooks specification, "Delivery considerations").
 */
export type Outcome = 'delivered' | 'failed' | 'gone';

/** Answers with which an endpoint may say, by `Retry-After`, when to come back (RFC 9110, section 10.2.3; RFC 6585, section 4). */
const MAY_DEFER = new Set([429, 503]);

/**
 * Decides an attempt. Any 2xx is success, a redirect is not followed and so is a failure, and every other answer or error is worth
 * another try: an endpoint's owner can mend a 404 or a certificate within the days that the schedule lasts.
 */
export function decideOutcome(attempt: Pick<Attempt, 'status_code' | 'error_code'>): Outcome {
  const status = attempt.status_code;
  if (status === undefined) return 'failed';
  if (status >= 200 && status < 300) return 'delivered';
  return status === 410 ? 'gone' : 'failed';
}

/** Whether a `Retry-After` on an answer of this status counts. */
export function mayDefer(status: number): boolean {
  return MAY_DEFER.has(status);
}

/** An attempt in words: `answered 503`, `timed out after 5s`. */
export function describeAttempt(attempt: Attempt): string {
  return attempt.status_code !== undefined
    ? `answered ${attempt.status_code}`
    : `failed: ${attempt.error ?? attempt.error_code}`;
}
