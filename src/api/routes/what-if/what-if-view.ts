import { z } from 'zod';
import {
  type LEFT_OUT,
  MAX_WHAT_IF_DAYS,
  type Share,
  type WhatIfCount,
} from '../../../domain/explain/what-if.js';
import { POSITION } from '../../../domain/feed/feed.js';
import { timeSchema } from '../../http/schemas.js';
import { timeParameter } from '../deliveries/filters.js';
import { endpointBody } from '../endpoints/endpoint-body.js';

const { event_kinds, filter, retry_schedule } = endpointBody.shape;

export const whatIfBody = z.strictObject({
  event_kinds,
  filter,
  retry_schedule,
  created_after: timeParameter.describe(
    `Events accepted at this time or later; by default one day before the end, at most ${MAX_WHAT_IF_DAYS} days`,
  ),
  created_before: timeParameter.describe('Events accepted before this time; by default now'),
  after: z
    .string()
    .regex(POSITION, 'must be the value of next in a response')
    .optional()
    .describe('Continues where a response ended: its next, with the same period'),
});

const count = z.int().min(0);
const sampled = z.object({
  count,
  event_ids: z.array(z.string()).describe('Ids of the first events, at most 10'),
});
const share = { events: count, deliveries: count };

const REASONS = {
  event_kind: 'event_kinds does not name their kind',
  filter: 'Their payload does not match the filter',
  named_endpoints: 'Their producer named the endpoints that may receive them',
  payload_unavailable:
    'Unknown: the filter needs the payload, which was erased or removed, or is not what was stored',
} satisfies Record<(typeof LEFT_OUT)[number], string>;

export const whatIfSchema = z
  .object({
    events: count.describe('Events that were examined; test events are not counted'),
    deliveries: sampled.describe('Events that the endpoint would have received'),
    left_out: z
      .object({
        event_kind: sampled.describe(REASONS.event_kind),
        filter: sampled.describe(REASONS.filter),
        named_endpoints: sampled.describe(REASONS.named_endpoints),
        payload_unavailable: sampled.describe(REASONS.payload_unavailable),
      })
      .describe('The other events, by reason'),
    by_kind: z.array(z.object({ event_kind: z.string(), ...share })).describe('Most events first'),
    by_day: z.array(z.object({ day: z.iso.date(), ...share })).describe('By day of acceptance, UTC'),
    attempts: z
      .array(z.object({ number: z.int(), after_ms: count }))
      .describe(
        'When a delivery is attempted if every attempt fails, from the first attempt on; after the last one it is exhausted. Each wait can be up to a tenth longer',
      ),
    from: timeSchema.describe(
      'Beginning of the period. Later than created_after if events from before this time may have been removed',
    ),
    up_to: timeSchema.describe('Events accepted before this time have been examined'),
    complete: z.boolean().describe('false: the limit of one request was reached; continue with next'),
    next: z.string().optional().describe('Value of after for the rest of the period; absent if complete'),
  })
  .meta({ id: 'WhatIf' });

/** Counts as the response shows them. */
export function renderCount({ events, outcomes, byKind, byDay }: WhatIfCount) {
  const { delivered, ...left_out } = outcomes;
  return {
    events,
    deliveries: delivered,
    left_out,
    by_kind: rows(byKind, (event_kind) => ({ event_kind })).sort((a, b) => b.events - a.events),
    by_day: rows(byDay, (day) => ({ day })).sort((a, b) => (a.day < b.day ? -1 : 1)),
  };
}

function rows<Name extends object>(shares: ReadonlyMap<string, Share>, nameOf: (key: string) => Name) {
  return [...shares].map(([key, share]) => ({ ...nameOf(key), ...share }));
}
