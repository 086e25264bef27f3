import { TIMINGS } from '../timings.js';

/** That an endpoint is failing, as stored with the endpoint, so that every attempt sees it. */
export interface FailingMark {
  /** ISO 8601, UTC: its first failure since it last succeeded. */
  since: string;
  /** When the endpoint is probed; until then at least, new deliveries to it wait. ISO 8601, UTC. */
  backoff_until?: string;
}

/** Failures of an endpoint, as a process reports them to its incident. */
export interface FailureReport {
  /** How many there were since the last report. */
  count: number;
  /** The last one, human-readable. */
  said: string;
  /** How long before it was sent the last one was, milliseconds: the incident has its own time. */
  ago_ms: number;
  /** Its attempt: `attemptName`. */
  attempt?: string;
}

/** An incident, as the endpoint's owner sees it while it is open. */
export interface OpenIncident {
  /** The first failure. ISO 8601, UTC. */
  since: string;
  /** Attempts that failed. Processes report them in batches, so the latest may be missing. */
  failures: number;
  /** The last failure that was reported, human-readable. */
  last_failure: string;
  last_failure_at: string;
  /** When one of the waiting deliveries is attempted next; absent while none has to wait. */
  next_probe_at?: string;
  /** When the endpoint is disabled, unless it succeeds before. */
  disable_at: string;
}

/**
 * How an incident ended. `lapsed`: nothing was sent to the endpoint for long; `superseded`: somebody paused, disabled
 * or deleted it.
 */
export type IncidentOutcome = 'recovered' | 'disabled' | 'lapsed' | 'superseded';

/** An incident as it is kept. The end and the outcome are absent while it is open. */
export interface EndpointIncident {
  began_at: Date;
  ended_at?: Date;
  outcome?: IncidentOutcome;
}

/** After this many failures, new deliveries wait for a successful probe instead of adding to them. */
export const BACKOFF_AFTER_FAILURES = 10;

/** Later probes come half as often each time, until they come this many times less often. */
const SLOWEST_PROBE = 60;

/**
 * The wait before the next probe, milliseconds.
 *
 * @param probes how many have been made
 * @param interval the wait before the first of the later probes; the early ones do not wait longer
 */
export function probeWait(probes: number, interval: number, { early_probes_ms } = TIMINGS): number {
  const early = early_probes_ms[probes];
  return early === undefined
    ? interval * Math.min(2 ** (probes - early_probes_ms.length), SLOWEST_PROBE)
    : Math.min(early, interval);
}
