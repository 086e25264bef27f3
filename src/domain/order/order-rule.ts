import { parseDuration } from '../basics/duration.js';
import { isClosed, type ShownStatus } from '../delivery/delivery.js';
import { ONE_FOR_ALL } from './order-key.js';

/** Which deliveries to an endpoint wait for each other: none, those of events with the same order key, or all. */
export const ORDERINGS = ['none', 'key', 'endpoint'] as const;
export type Ordering = (typeof ORDERINGS)[number];

/** When a delivery that was not delivered no longer holds up those behind it: never, or once it has ended. */
export const ORDER_SKIPS = ['never', 'exhausted'] as const;
export type OrderSkip = (typeof ORDER_SKIPS)[number];

/** How an endpoint has its deliveries ordered. */
export interface OrderRule {
  /** Absent: not at all. */
  ordering?: Exclude<Ordering, 'none'>;
  /** Absent: never. */
  order_skip?: OrderSkip;
  /** A delivery holds up those behind it for at most so long, such as `1h`; absent: for any time. */
  order_skip_after?: string;
}

/** A delivery's place in an order. */
export interface OrderPlace {
  /** The deliveries to an endpoint whose events have the same order key. */
  stream: string;
  /** 1 for the first of the stream, and one more for each that follows. */
  number: number;
}

/** The order key by which a delivery to an endpoint is ordered; `undefined` if it is not. @param token of the event */
export function orderKeyFor({ ordering }: OrderRule, token: string | undefined): string | undefined {
  return ordering === 'endpoint' ? ONE_FOR_ALL : ordering && token;
}

export function streamOf({ endpoint_id, order_key }: { endpoint_id: string; order_key: string }): string {
  return `${endpoint_id} ${order_key}`;
}

/**
 * Whether a delivery no longer holds up those behind it.
 *
 * @param status absent while it has no row
 * @param heldUpMs for how long it has held them up
 */
export function isPassed(status: ShownStatus | undefined, heldUpMs: number, rule: OrderRule): boolean {
  // Whoever cancels a delivery gives it up.
  if (status === 'delivered' || status === 'cancelled') return true;
  if (rule.order_skip === 'exhausted' && status !== undefined && isClosed(status)) return true;
  return skipsIn(heldUpMs, rule) === 0;
}

/** After how long a delivery that has held up others is skipped; `undefined` if it is not. Milliseconds. */
export function skipsIn(heldUpMs: number, { order_skip_after }: OrderRule): number | undefined {
  if (order_skip_after === undefined) return undefined;
  return Math.max(parseDuration(order_skip_after) - heldUpMs, 0);
}

/**
 * The header `webhook-order` (RFC 9651, an integer with parameters): the number, that of the one before, and what
 * stands for the key.
 */
export function orderHeader({ stream, number }: OrderPlace): string {
  const [, key = ONE_FOR_ALL] = stream.split(' ');
  const previous = number > 1 ? `;previous=${number - 1}` : '';
  return `${number}${previous}${key === ONE_FOR_ALL ? '' : `;key="${key}"`}`;
}
