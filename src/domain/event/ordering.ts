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

/** The order key by which a delivery to an endpoint is ordered; `undefined` if it is not. @param token of the event */
export function orderKeyFor({ ordering }: OrderRule, token: string | undefined): string | undefined {
  return ordering === 'endpoint' ? ONE_FOR_ALL : ordering && token;
}
