import type { NoSlot } from '../endpoint/attempt-slots.js';
import type { FailingMark } from '../endpoint/incident.js';
import { TIMINGS, type Timings } from '../timings.js';
import { MAX_JITTER } from './retry-schedule.js';

/**
 * When a probe is due, the mark is renewed and the probe is made. Within this time, milliseconds, or deliveries go on: a busy machine needs
 * some of it, and all that came meanwhile would be attempted.
 */
const RENEWAL_MS = 30_000;

/** Why an attempt waits, and until when. */
export interface HeldBack {
  kind: 'not_attempted';
  endpoint: 'failing' | 'busy';
  /** Failing: since when. ISO 8601, UTC. */
  since?: string;
  /** Busy: attempts that wait for its answer. */
  in_flight?: number;
  /** ISO 8601, UTC. */
  look_again_at: string;
}

/**
 * Of an endpoint that keeps failing, first attempts wait. A probe that succeeds ends that, and so does a time of {@link RENEWAL_MS}
 * without a probe.
 *
 * @param marks what is known of it; none: it is not failing
 * @param now milliseconds since the epoch
 * @param random from 0 up to 1
 */
export function holdBack(
  marks: readonly (FailingMark | undefined)[],
  now: number,
  random: number,
  { untold_ms }: Timings = TIMINGS,
): HeldBack | undefined {
  const endOf = (mark: FailingMark | undefined) => Date.parse(mark?.backoff_until ?? '') + RENEWAL_MS;
  const failing = marks.find((mark) => endOf(mark) > now);
  if (!failing) return undefined;
  const until = endOf(failing);
  const wait = until - now + untold_ms;
  return {
    kind: 'not_attempted',
    endpoint: 'failing',
    since: failing.since,
    look_again_at: new Date(now + wait * (1 + MAX_JITTER * random)).toISOString(),
  };
}

/** An endpoint has as many attempts in flight as it may have, so further ones wait. */
export function waitForSlot({ inFlight, askAgainAt }: NoSlot): HeldBack {
  return {
    kind: 'not_attempted',
    endpoint: 'busy',
    in_flight: inFlight,
    look_again_at: new Date(askAgainAt).toISOString(),
  };
}
