import { z } from 'zod';
import { deliveryId } from '../../../domain/basics/delivery-id.js';
import { createdAt } from '../../../domain/basics/id-time.js';
import { timeSchema as time } from '../../http/schemas.js';
import { deliverySummarySchema } from '../deliveries/delivery-view.js';
import type { Acceptance } from './accept-event.js';

/** Deliveries in the response to a producer. If an event has more, the response has only their number. */
const MAX_LISTED = 10;

export const eventSummarySchema = z
  .object({
    id: z.string(),
    kind: z.string(),
    created_at: time,
    sequence: z
      .int()
      .min(1)
      .optional()
      .describe(
        'Number of the event in the sequence of the account: no two events have the same, and none is left out. Absent for events that Hookline makes',
      ),
  })
  .meta({ id: 'EventSummary' });

export const eventSchema = eventSummarySchema
  .extend({
    fan_out: z
      .object({
        started: z.int().describe('Deliveries started so far'),
        total: z.int().describe('Deliveries in total'),
      })
      .optional()
      .describe('Absent if all deliveries were started before the response, and after a day'),
    deliveries: z
      .array(deliverySummarySchema)
      .describe('At most some of them: the list of deliveries has all'),
    payload: z.unknown().describe('As it was received; null once it is no longer kept, and if it was erased'),
    named_endpoints: z
      .array(z.string())
      .optional()
      .describe('The only endpoints that could get it, as its producer named them; absent if there are none'),
    payload_erased: z
      .literal(true)
      .optional()
      .describe('Present if the payload is unreadable because its subject was erased'),
  })
  .meta({ id: 'Event' });

export const acceptanceSchema = eventSummarySchema
  .extend({
    delivery_count: z.int(),
    deliveries: z
      .array(z.object({ id: z.string(), endpoint_id: z.string() }))
      .optional()
      .describe(`Absent if there are more than ${MAX_LISTED}`),
  })
  .meta({
    id: 'Acceptance',
    examples: [
      {
        id: 'evt_01M7Y2V07RS2Y47QBBGSV7HTCR',
        kind: 'purchase',
        created_at: '2026-11-21T12:00:00.000Z',
        sequence: 17,
        delivery_count: 1,
        deliveries: [
          {
            id: 'dlv_01M7Y2V07RS2Y47QBBGSV7HTCR_01M7Y2TZZ9K3C5R4Q0V8W1XHPN',
            endpoint_id: 'ep_01M7Y2TZZ9K3C5R4Q0V8W1XHPN',
          },
        ],
      },
    ],
  });

/** Response to a producer: the deliveries one by one, unless there are many. */
export function renderAcceptance(
  kind: string,
  { event_id, targets, sequence }: Pick<Acceptance, 'event_id' | 'targets'> & { sequence?: number },
) {
  const listed = targets.length <= MAX_LISTED;
  return {
    id: event_id,
    kind,
    created_at: createdAt(event_id),
    sequence,
    delivery_count: targets.length,
    ...(listed && {
      deliveries: targets.map(({ endpoint_id }) => ({
        id: deliveryId({ event_id, endpoint_id }),
        endpoint_id,
      })),
    }),
  };
}
