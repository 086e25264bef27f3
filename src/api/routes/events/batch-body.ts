import { z } from 'zod';
import { MAX_KEY_NAME_LENGTH, MAX_PAYLOAD_BYTES } from '../../../../packages/payload-contract/src/index.js';
import { idPattern } from '../../../domain/basics/ids.js';
import { MAX_NAMED_ENDPOINTS, NAMED_ENDPOINTS_RULE } from '../../../domain/delivery/recipients.js';
import { KEY_NAME, MAX_KEY_VALUE_LENGTH, MAX_KEYS_PER_REQUEST } from '../../../domain/event/business-keys.js';
import { MAX_ORDER_KEY_LENGTH } from '../../../domain/event/order-key.js';
import { parseJson } from '../../../domain/event/payload.js';
import { MAX_SUBJECT_LENGTH } from '../../../domain/event/subject.js';
import { Problem } from '../../../domain/http/problem.js';
import { cutPayloads } from '../../../domain/text/cut-payloads.js';
import { checkBytes, readJsonBytes } from '../../http/body.js';
import { recordOf } from '../../http/bounds/find-excess.js';
import type { Context } from '../../http/context.js';
import { invalidRequest } from '../../http/validation.js';
import type { EventRequest } from './accept-event.js';
import { IDEMPOTENCY_KEY, IDEMPOTENCY_KEY_RULE } from './event-headers.js';

/** Events in one request. */
export const MAX_BATCH_EVENTS = 100;
/** Bytes of a request with several events. */
export const MAX_BATCH_BYTES = 1024 * 1024;

/** An event with what the headers of a request that posts one event say of it. */
export const postedEvent = z.strictObject({
  kind: z.string().describe('Kind of the event'),
  // Its number while it is checked: the payload itself was cut out.
  payload: z
    .unknown()
    .describe(`Valid for the kind, at most ${MAX_PAYLOAD_BYTES / 1024} KiB. It is delivered byte for byte`),
  idempotency_key: z
    .string()
    .regex(IDEMPOTENCY_KEY, IDEMPOTENCY_KEY_RULE)
    .optional()
    .describe('As the header Idempotency-Key, for this event'),
  keys: recordOf(
    z.string().max(MAX_KEY_NAME_LENGTH).regex(KEY_NAME),
    z.string().min(1).max(MAX_KEY_VALUE_LENGTH),
    MAX_KEYS_PER_REQUEST,
  )
    .optional()
    .describe('Business keys that are not in the payload'),
  subject: z
    .string()
    .min(1)
    .max(MAX_SUBJECT_LENGTH)
    .optional()
    .describe('The person that the event is about'),
  order_key: z
    .string()
    .min(1)
    .max(MAX_ORDER_KEY_LENGTH)
    .optional()
    .describe('Key that the event is delivered in order by: docs/tasks/order.md'),
  endpoint_ids: z
    .array(z.string().regex(idPattern('endpoint'), NAMED_ENDPOINTS_RULE))
    .min(1)
    .max(MAX_NAMED_ENDPOINTS)
    .optional()
    .describe('The only endpoints that may get the event: it goes to those of them that it matches'),
  schema_version: z.int().min(1).optional().describe("Version of the kind's schema; absent for the newest"),
});

/** Several events, as they are posted. */
export const batchBody = z.strictObject({
  mode: z
    .enum(['all_or_nothing', 'each'])
    .default('all_or_nothing')
    .describe(
      'all_or_nothing: if one event cannot be accepted, none is. each: every event is accepted or refused by itself',
    ),
  events: z
    .array(postedEvent, 'must be a list of events; one event alone is posted to /events/{kind}')
    .min(1)
    .max(MAX_BATCH_EVENTS),
});

/** Several events that were posted together. */
export interface Batch {
  mode: 'all_or_nothing' | 'each';
  events: EventRequest[];
}

/**
 * Reads several events. Their number is bounded before anything is parsed, and each payload is the bytes that came.
 *
 * @throws Problem 400 with a pointer to every wrong place, 413
 */
export async function readBatch(ctx: Context): Promise<Batch> {
  const body = await readJsonBytes(ctx, MAX_BATCH_BYTES);
  const cut = cutPayloads(body, MAX_BATCH_EVENTS);
  if (!cut)
    throw invalidRequest([{ pointer: '/events', detail: `must have at most ${MAX_BATCH_EVENTS} entries` }]);
  const { mode, events } = checkRest(cut.rest, body);
  const misplaced = events.findIndex(({ payload }, index) => payload !== index);
  if (misplaced >= 0 || events.length !== cut.payloads.length)
    throw invalidRequest([
      {
        pointer: `/events/${Math.max(misplaced, 0)}`,
        detail: 'must have "payload" once, written without escapes',
      },
    ]);
  const tooLarge = cut.payloads.findIndex(({ length }) => length > MAX_PAYLOAD_BYTES);
  if (tooLarge >= 0)
    throw new Problem('payload_too_large', `A payload is larger than ${MAX_PAYLOAD_BYTES} bytes.`, {
      errors: [{ pointer: `/events/${tooLarge}/payload`, detail: 'is too large: send less' }],
    });
  return {
    mode,
    events: events.map((event, index) => ({
      ...requestOf(event, cut.payloads[index] ?? Buffer.alloc(0)),
      trace: ctx.state.trace,
    })),
  };
}

/** An event as it is accepted. @param body its payload */
export function requestOf(event: Omit<z.output<typeof postedEvent>, 'payload'>, body: Buffer): EventRequest {
  const { kind, idempotency_key, keys = {}, subject, order_key, endpoint_ids, schema_version } = event;
  return {
    kind,
    body,
    idempotencyKey: idempotency_key,
    keys: Object.entries(keys).map(([name, value]) => ({ name, value })),
    subject,
    orderKey: order_key,
    endpointIds: endpoint_ids && [...new Set(endpoint_ids)],
    schemaVersion: schema_version,
  };
}

function checkRest(rest: Buffer, body: Buffer) {
  try {
    return checkBytes(batchBody, rest);
  } catch (error) {
    // Says where the mistake is in what was sent.
    if (error instanceof Problem && error.code === 'invalid_json') parseJson(body.toString());
    throw error;
  }
}
