import type { AttemptReport } from '../../attempt/attempt-report.js';
import type { AttemptOrder, Begun } from '../../delivery/attempt-order.js';
import type { DeliverySettings } from '../../delivery/delivery.js';
import { DeliveryMachine } from '../../delivery/delivery-machine.js';
import type { DeliverySnapshot } from '../../delivery/delivery-state.js';
import { groupJitter } from '../../endpoint/retry-schedule.js';
import type { TimelineItem } from '../../explain/timeline.js';
import type { ToldDelivery, ToldRun } from '../told.js';
import type { DeliveredAttempts } from './delivered-attempts.js';

/** An attempt to make, and what is told of its delivery with it. A Temporal payload. */
export interface OrderToTell extends AttemptOrder {
  /** Timeline entries that led to the attempt and that the record does not contain. */
  said?: TimelineItem[];
}

/** Attempts that an execution asks for together, whose rows are kept then. A Temporal payload. */
export interface AttemptOrders {
  run: ToldRun;
  /** Number of the report on those in flight; one more on those that have ended and are open, two on the last. */
  turn: number;
  settings: DeliverySettings;
  /** Seed of the execution's jitter. */
  seed: string;
  orders: OrderToTell[];
  /** Number of earlier workflow tasks that may have made them. */
  lost_tries?: number;
  /** The process that accepted the events and has begun the first attempts. */
  begun?: Begun;
  /** The workflow takes results in columns: see {@link DeliveredAttempts}. */
  in_columns?: true;
}

/** Number of reports on the attempts of {@link AttemptOrders}. */
export const TURNS_OF_ATTEMPTS = 3;

/** Result of {@link AttemptOrders}. A Temporal payload. */
export interface MadeAttempts {
  /** For each, in their order; `null` for one that could not be made, is recorded, or stands in columns. */
  reports: (AttemptReport | null)[];
  /** Those that were delivered and are not among the reports. */
  delivered?: DeliveredAttempts;
  /** Those of which an attempt was recorded before: what is recorded counts. By the index of the delivery. */
  recorded?: { index: number; snapshot: DeliverySnapshot }[];
  /** The rows say all that these reports say. */
  kept: boolean;
  /** Number of tries of each that may have been sent before, besides those in its order; absent: none. */
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
  return orders.map(
    ({ event, snapshot, schedule = settings.schedule, said, attempt, ...target }, position) => {
      const own = structuredClone(snapshot);
      const machine = DeliveryMachine.from({ ...settings, schedule }, surroundings, own);
      const report = reports[position];
      if (report) machine.settle(report, attempt.lost_tries);
      const { account_id, event_id, event_kind } = event;
      const max_attempts = schedule.length + 1;
      const { endpoint_id, order_key } = target;
      const of = { account_id, event_id, event_kind, endpoint_id, ...(order_key && { order_key }) };
      return { ...of, snapshot: machine.snapshot, max_attempts, ...(said && { said }) };
    },
  );
}

/** When attempts ended, by the workflow's time; `undefined` if none says it. Milliseconds since the epoch. */
export function endOfAttempts(
  made: Pick<MadeAttempts, 'reports' | 'delivered'> | undefined,
): number | undefined {
  const ends = [...(made?.reports ?? []), made?.delivered].flatMap((one) => one?.ended_at ?? []);
  return ends.length > 0 ? Math.max(...ends) : undefined;
}
