import type { Trigger } from '../attempt/attempt.js';
import type { DeliveryRecord } from './delivery.js';

/** After this many attempts a delivery is over, whatever its schedule says: its history must stay readable. */
export const MAX_ATTEMPTS = 100;

/**
 * A delivery with so many attempts is no longer chosen for probes: what is left is for its schedule, for releases and
 * for people.
 */
export const MAX_PROBED_ATTEMPTS = MAX_ATTEMPTS / 2;

/** After this many interventions a delivery accepts only `cancel`. */
export const MAX_INTERVENTIONS = 100;

/** Why an act is refused during an attempt, or until the execution has heard of its end. */
export const IN_FLIGHT = 'an attempt is in flight';

/** A time, and what the attempt at that time is made for. */
export interface PlannedAttempt {
  /** Milliseconds since the epoch. */
  at: number;
  trigger: Trigger;
  /** The endpoint asked, by `Retry-After`, not to be called before. */
  not_before?: number;
}

/** A turn under the endpoint's rate limit, and the attempt that waits for it. */
interface TakenTurn extends PlannedAttempt {
  /** When it is, by MongoDB's time, in which turns are counted. ISO 8601, UTC. */
  taken: string;
}

/** It waits for the time of its next attempt. */
interface AwaitingAttempt {
  kind: 'waiting';
  plan: PlannedAttempt;
}

/** Its endpoint takes no deliveries at the moment. */
interface Parked {
  kind: 'parked';
  since: number;
  look_again_at?: number;
  endpoint_changed: boolean;
}

/** State to which a delivery returns if a probe with it fails. */
export type Probed = AwaitingAttempt | Parked;

/**
 * State of a delivery. `plan` is the attempt that the schedule holds: an attempt by hand and a pause leave it as it is.
 * Times are milliseconds since the epoch.
 */
export type DeliveryState =
  /** An attempt is in flight. */
  | {
      kind: 'attempting';
      trigger: Trigger;
      /** The turn under the endpoint's rate limit for which it was deferred. ISO 8601, UTC. */
      turn?: string;
      plan?: PlannedAttempt;
      /** It was parked since then, and still is if no attempt can be made. */
      parked_since?: number;
      /** The endpoint changed after the attempt began, so the attempt may have seen it as it was before. */
      endpoint_changed: boolean;
      /** State before the probe, if this attempt is one. */
      probed?: Probed;
    }
  /** An attempt is to be made now; the next step makes it. `released`: its endpoint takes deliveries again. */
  | {
      kind: 'called';
      trigger?: 'released' | 'probe';
      plan?: PlannedAttempt;
      parked_since?: number;
      probed?: Probed;
    }
  | AwaitingAttempt
  /** It waits for its turn under the endpoint's rate limit. */
  | { kind: 'deferred'; turn: TakenTurn; plan?: PlannedAttempt }
  | Parked
  /** Somebody paused it. */
  | { kind: 'paused'; since: number; plan?: PlannedAttempt }
  | { kind: 'closed' };

/** Everything that a delivery is, so that another execution can carry on with it. A Temporal payload. */
export interface DeliverySnapshot {
  record: DeliveryRecord;
  state: DeliveryState;
  /** Attempts of the schedule that have failed. */
  failed: number;
  /** Number of tries of the next attempt that may have been sent before the delivery was made to wait; absent: none. */
  lost_tries?: number;
}

/** When the next attempt is made, if that is known. */
export function nextAttemptOf(state: DeliveryState): PlannedAttempt | undefined {
  if (state.kind === 'waiting') return state.plan;
  return state.kind === 'deferred' ? state.turn : undefined;
}

/** Since when it has been parked, if it is. */
export function parkedSince(state: DeliveryState): number | undefined {
  if (state.kind === 'parked' || state.kind === 'paused') return state.since;
  return state.kind === 'attempting' || state.kind === 'called' ? state.parked_since : undefined;
}

/** The attempt that the schedule holds. */
export function planOf(state: DeliveryState): PlannedAttempt | undefined {
  return 'plan' in state ? state.plan : undefined;
}

/** Before this the endpoint asked not to be called. Milliseconds since the epoch. */
export function notBefore({
  at,
  trigger,
  not_before = trigger === 'retry_after' ? at : 0,
}: PlannedAttempt): number {
  return not_before;
}

/**
 * The next attempt of a delivery after a probe that failed.
 *
 * @param asked the endpoint asked not to be called before; milliseconds since the epoch
 */
export function planAfterProbe(probed: Probed, asked: number | undefined): PlannedAttempt {
  const planned = probed.kind === 'waiting' ? probed.plan : undefined;
  const at = Math.max(planned?.at ?? 0, asked ?? 0);
  const plan = planned?.at === at ? planned : { at, trigger: 'retry_after' as const };
  return asked === undefined ? plan : { ...plan, not_before: asked };
}
