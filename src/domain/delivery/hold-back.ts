import type { FailingMark } from '../endpoint/incident.js';
import { MAX_JITTER } from './retry-schedule.js';

/**
 * A delivery that waits for a failing endpoint is told when to go on. Where it is not, because the incident was terminated by hand, it
 * looks so long after the time by which it should have been, milliseconds.
 */
const UNTOLD_MS = 10 * 60_000;

/** Why a first attempt waits, and until when. */
export interface HeldBack {
  kind: 'not_attempted';
  endpoint: 'failing';
  reason: string;
  /** ISO 8601, UTC. */
  look_again_at: string;
}

/**
 * Of an endpoint that keeps failing, first attempts wait.
 *
 * @param failing what is known of it; absent: it is not failing
 * @param now milliseconds since the epoch
 * @param random from 0 up to 1
 */
export function holdBack(
  failing: FailingMark | undefined,
  now: number,
  random: number,
): HeldBack | undefined {
  const until = Date.parse(failing?.backoff_until ?? '');
  if (!failing || !(until > now)) return undefined;
  const wait = until - now + UNTOLD_MS;
  return {
    kind: 'not_attempted',
    endpoint: 'failing',
    reason: `since ${failing.since}, so new deliveries wait until it answers again.`,
    look_again_at: new Date(now + wait * (1 + MAX_JITTER * random)).toISOString(),
  };
}
