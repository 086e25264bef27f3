import type { ToldDelivery, ToldRun } from '../archive/told.js';
import type { AttemptReport } from '../attempt/attempt-report.js';
import { groupJitter } from '../endpoint/retry-schedule.js';
import type { DeliverySettings, NamedEvent } from './delivery.js';
import type { MemberAttempt } from './delivery-group.js';
import { DeliveryMachine } from './delivery-machine.js';
import type { DeliverySnapshot } from './delivery-state.js';

/** An attempt to make, with the delivery as it is while the attempt is in flight. A Temporal payload. */
export interface AttemptOrder {
  event: NamedEvent;
  endpoint_id: string;
  /** The endpoint's own waits between attempts, milliseconds; absent if it has those of the settings. */
  schedule?: readonly number[];
  snapshot: DeliverySnapshot;
  attempt: MemberAttempt;
}

/** What a first attempt is made from. */
export type FirstOrder = Pick<AttemptOrder, 'event' | 'endpoint_id' | 'attempt'>;

/** Attempts that an execution asks for together, whose rows are kept then. A Temporal payload. */
export interface AttemptOrders {
  run: ToldRun;
  /** What is told before all of them have ended; after that, one more. */
  turn: number;
  settings: DeliverySettings;
  /** Of the execution's jitter. */
  seed: string;
  orders: AttemptOrder[];
  /** So many earlier workflow tasks may have made them. */
  lost_tries?: number;
  /** Whoever accepted the events has begun first attempts. */
  begun?: Begun;
}

/** First attempts that were begun before their execution was started. A Temporal payload. */
export interface Begun {
  /** The process that began them, and keeps their rows if it is not asked for them. */
  by: string;
  /** It has died meanwhile. */
  is_lost?: true;
}

/** So many turns the attempts of {@link AttemptOrders} take. */
export const TURNS_OF_ATTEMPTS = 2;

/** What was made of {@link AttemptOrders}. A Temporal payload. */
export interface MadeAttempts {
  /** For each, in their order; `null` for one that could not be made, or is recorded. */
  reports: (AttemptReport | null)[];
  /** Those of which an attempt was recorded before: what is recorded counts. By the index of the delivery. */
  recorded?: { index: number; snapshot: DeliverySnapshot }[];
  /** The rows say all that these reports say. */
  kept: boolean;
  /** So many tries of each may have been sent before; absent: none. */
  lost_tries?: number;
}

/**
 * Deliveries after the reports of their attempts, as their execution will have them.
 *
 * @param now when the attempts ended, by the workflow's time. Milliseconds since the epoch
 */
export function settledOrders(
  { orders, settings, seed }: Pick<AttemptOrders, 'orders' | 'settings' | 'seed'>,
  reports: readonly (AttemptReport | null | undefined)[],
  now: number,
): ToldDelivery[] {
  const surroundings = { now: () => now, random: (attempt: number) => groupJitter(seed, attempt) };
  return orders.map(({ event, endpoint_id, schedule = settings.schedule, snapshot }, position) => {
    const own = structuredClone(snapshot);
    const machine = DeliveryMachine.from({ ...settings, schedule }, surroundings, own);
    const report = reports[position];
    if (report) machine.settle(report);
    const { account_id, event_id, event_kind } = event;
    const max_attempts = schedule.length + 1;
    return { account_id, event_id, event_kind, endpoint_id, snapshot: machine.snapshot, max_attempts };
  });
}

/** When attempts ended, by the workflow's time; `undefined` if none says it. Milliseconds since the epoch. */
export function endOfAttempts(made: Pick<MadeAttempts, 'reports'> | undefined): number | undefined {
  const ends = made?.reports.flatMap((report) => report?.ended_at ?? []) ?? [];
  return ends.length > 0 ? Math.max(...ends) : undefined;
}
