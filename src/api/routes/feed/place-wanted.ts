import { z } from 'zod';
import { ONE_FOR_ALL, ORDER_TOKEN } from '../../../domain/event/order-key.js';
import { type OrderPlace, streamOf } from '../../../domain/order/order-rule.js';
import { invalidRequest } from '../../http/validation.js';

/** Parameters that name a delivery as its header `webhook-order` does. */
export const placeParameters = {
  order: z.coerce
    .number()
    .int()
    .min(1)
    .optional()
    .describe(
      'The event of the delivery to `endpoint` that has this number in `webhook-order`, and those behind it',
    ),
  order_key: z
    .string()
    .regex(ORDER_TOKEN, 'must be the key in webhook-order, such as o:pX3n0bVv2l7Yc1dK')
    .optional()
    .describe('The `key` beside the number in `webhook-order`; absent if it has none'),
};

/** Other parameters that say where to begin. */
const BEGINNINGS = ['after', 'consumer', 'from', 'sequence'] as const;

interface PlaceQuery extends Partial<Record<(typeof BEGINNINGS)[number], unknown>> {
  endpoint?: string | undefined;
  order?: number | undefined;
  order_key?: string | undefined;
}

/**
 * The place in an order at which a query begins; `undefined` if it names none.
 *
 * @throws Problem 400 if it names only a part of one, or another beginning
 */
export function placeWanted(query: PlaceQuery): OrderPlace | undefined {
  const { endpoint: endpoint_id, order: number, order_key } = query;
  const refuse = (parameter: string, detail: string) => invalidRequest([{ parameter, detail }]);
  if (number === undefined) {
    if (order_key !== undefined) throw refuse('order', 'is missing: order_key belongs to a number');
    return undefined;
  }
  if (endpoint_id === undefined) throw refuse('endpoint', 'is missing: order is a number of its deliveries');
  const other = BEGINNINGS.find((name) => query[name] !== undefined);
  if (other) throw refuse(other, 'cannot be combined with order: both say where to begin');
  return { stream: streamOf({ endpoint_id, order_key: order_key ?? ONE_FOR_ALL }), number };
}
