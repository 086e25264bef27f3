import { z } from 'zod';
import { createdAt } from '../../../domain/basics/id-time.js';
import { type PayloadForm, payloadMembers } from '../../../domain/records/payload-line.js';
import { toJson } from '../../../domain/text/unicode.js';
import type { FeedConsumer } from '../../../models/feed/feed-consumers.js';
import type { FeedEntry } from '../../../models/feed/feed-reader.js';
import { timeSchema } from '../../http/schemas.js';
import { eventSummarySchema } from '../events/event-view.js';

export const feedEntrySchema = eventSummarySchema
  .extend({
    id: z.string().describe("The event's id, which deliveries have as `webhook-id`"),
    position: z.string().describe('Where the event stands in the feed. Positions sort as texts'),
    payload: z
      .unknown()
      .describe(
        'As it was received; with payload=text a string of what was received; null once it is no longer kept, and if it was erased',
      ),
    payload_text: z
      .string()
      .optional()
      .describe('The payload as it was received, if it has line breaks or half of a surrogate pair'),
    payload_erased: z
      .literal(true)
      .optional()
      .describe('Present if the payload cannot be read, because its subject was erased'),
    altered: z
      .string()
      .optional()
      .describe('Present if the event was altered in the database: the difference. The payload is then null'),
  })
  .meta({ id: 'FeedEntry' });

/** An entry as JSON text: its payload is put in as it was received. */
export function renderEntry({ position, event, altered }: FeedEntry, form: PayloadForm): string {
  const { id, event_kind: kind, sequence, payload, kept } = event;
  const isErased = payload === undefined && kept !== undefined && !altered;
  const head = toJson({
    ...{ position, id, kind, created_at: createdAt(id), sequence },
    ...(isErased && { payload_erased: true }),
    ...(altered && { altered: altered.message }),
  });
  return `${head.slice(0, -1)},${payloadMembers(altered ? undefined : payload, form)}}`;
}

export const consumerSchema = z
  .object({
    name: z.string(),
    position: z.string().describe('Everything up to here was dealt with; empty at the beginning'),
    up_to: timeSchema
      .optional()
      .describe(
        'The time of the position: events that were accepted later are still to be read. Absent at the beginning',
      ),
    updated_at: timeSchema.describe('When the position was committed'),
  })
  .meta({ id: 'FeedConsumer' });

export function renderConsumer({ name, position, updated_at }: FeedConsumer) {
  const up_to = position === '' ? undefined : createdAt(position);
  return { name, position, up_to, updated_at: updated_at.toISOString() };
}
