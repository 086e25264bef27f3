import { parseDuration } from '../basics/duration.js';
import { isClosed, type ShownStatus } from '../delivery/delivery.js';
import { ONE_FOR_ALL } from '../event/order-key.js';
import type { OrderRule } from '../event/ordering.js';

/** A delivery's place in an order. */
export interface OrderPlace {
  /** The deliveries to an endpoint whose events have the same order key. */
  stream: string;
  /** 1 for the first of the stream, and one more for each that follows. */
  number: number;
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
  // A cancelled delivery is given up.
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
