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
