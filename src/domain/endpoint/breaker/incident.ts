import type { FailingMark } from './circuit-breaker.js';

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
  /** With them, the process has opened the endpoint's circuit breaker: the incident is to probe, and to close it. */
  opens_breaker?: true;
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

/** An open incident as far as it is known: its failures and its end are known to Temporal alone. */
export type KnownIncident = Pick<OpenIncident, 'since' | 'next_probe_at'> & Partial<OpenIncident>;

/** The open incident of an endpoint, as far as the endpoint's mark tells of it. */
export function incidentIn({ since, backoff_until }: FailingMark): KnownIncident {
  return { since, ...(backoff_until !== undefined && { next_probe_at: backoff_until }) };
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
