import type { Trigger } from '../attempt/attempt.js';
import type { DeliveryTarget, NamedEvent } from './delivery.js';
import type { DeliverySnapshot } from './delivery-state.js';

/** An attempt at one delivery of a group. A Temporal payload. */
export interface MemberAttempt {
  /** The member's index in the group. */
  index: number;
  /** 1 for the first. */
  number: number;
  trigger: Trigger;
  /** Its turn under the endpoint's rate limit, for which it has waited, by MongoDB's time. ISO 8601, UTC. */
  turn?: string;
  /** Number of its tries that may have been sent before, in a workflow task or by a process that was lost. */
  lost_tries?: number;
}

/** An attempt of which some tries more may have been sent before. */
export function withLost(attempt: MemberAttempt, lost: number): MemberAttempt {
  return lost > 0 ? { ...attempt, lost_tries: (attempt.lost_tries ?? 0) + lost } : attempt;
}

/** An attempt to make, with the delivery as it is while the attempt is in flight. A Temporal payload. */
export interface AttemptOrder extends DeliveryTarget {
  event: NamedEvent;
  snapshot: DeliverySnapshot;
  attempt: MemberAttempt;
}

/** Input of a first attempt. */
export type FirstOrder = Pick<AttemptOrder, 'event' | 'endpoint_id' | 'order_key' | 'attempt'>;

/** First attempts that were begun before their execution was started. A Temporal payload. */
export interface Begun {
  /** The process that began them, and keeps their rows if it is not asked for them. */
  by: string;
  /** It has died meanwhile. */
  is_lost?: true;
}
