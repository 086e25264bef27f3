import type { DeliveryStatus, NamedEvent } from '../src/domain/delivery/delivery.js';
import type { IncidentOutcome, OpenIncident } from '../src/domain/endpoint/breaker/incident.js';
import type { IncidentSettings, IncidentState } from '../src/domain/endpoint/breaker/incident-machine.js';
import type { EndpointKey } from '../src/domain/endpoint/endpoint-key.js';
import type { ReplayItem, ReplayPlan, ReplayProgress } from '../src/domain/replay/replay.js';
import type { Timings } from '../src/domain/timings.js';

/** The result of `deliver`: how many of its deliveries ended how. */
export type DeliverResult = Partial<Record<DeliveryStatus, number>>;

export interface EndpointIncidentInput extends IncidentSettings {
  /** How long before its start the first failure was, milliseconds. */
  failing_for_ms: number;
  /** Present if the run continues another one. */
  state?: IncidentState;
}

export type EndpointIncidentResult = OpenIncident & { outcome: IncidentOutcome };

export interface ReleaseParkedInput extends EndpointKey {
  /** Deliveries to release each second, at most. */
  per_second: number;
  /** Whether deliveries that wait for a retry go along. */
  retries?: boolean;
  timings?: Timings;
}

export interface FanOutEventInput {
  event: NamedEvent;
  /** How many endpoints it goes to. */
  total: number;
}

export interface ReplayDeliveriesInput {
  plan: ReplayPlan;
  /** Present if the run continues another one. */
  so_far?: ReplaySoFar;
  /** Its end is kept in MongoDB. */
  keeps_end?: true;
}

/** How far a replay is. */
export interface ReplaySoFar {
  progress: ReplayProgress;
  /** Found, and not acted on yet. */
  items: ReplayItem[];
  /**
   * Where the next page begins, which the activity that finds pages made, and alone reads; absent for the first page.
   */
  cursor?: unknown;
  /** There is no next page. */
  is_last?: boolean;
}
