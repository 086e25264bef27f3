import { MAX_JITTER } from './retry-schedule.js';

/** That an endpoint is failing, as it is kept with the endpoint: so every attempt knows without asking. */
export interface FailingMark {
  /** ISO 8601, UTC: its first failure since it last succeeded. */
  since: string;
  /** Until then, new deliveries to it wait. ISO 8601, UTC. */
  backoff_until?: string;
}

/** An incident, as the endpoint's owner sees it while it is open. */
export interface OpenIncident {
  since: string;
  /** Attempts that failed. Processes report them in batches, so the latest may be missing. */
  failures: number;
  /** The last failure that was reported, in words. */
  last_failure: string;
  last_failure_at: string;
  /** When one of the waiting deliveries is attempted next; absent while none has to wait. */
  next_probe_at?: string;
  /** When the endpoint is disabled, unless it succeeds before. */
  disable_at: string;
}

/** How an incident ended. `lapsed`: nothing was sent to the endpoint for long; `superseded`: somebody paused, disabled or deleted it. */
export type IncidentOutcome = 'recovered' | 'disabled' | 'lapsed' | 'superseded';

/** With so many failures, new deliveries wait for a probe instead of adding to them. */
export const BACKOFF_AFTER_FAILURES = 10;

/** Probes come half as often each time, until they come this many times less often. */
const SLOWEST_PROBE = 60;

/** The wait before the probe after so many. */
export function probeWait(probes: number, interval: number): number {
  return interval * Math.min(2 ** probes, SLOWEST_PROBE);
}

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
