import { z } from 'zod';
import { type BusinessKey, parseKeyHeader } from '../../../domain/event/business-keys.js';
import { MAX_ORDER_KEY_LENGTH, parseOrderHeader } from '../../../domain/event/order-key.js';
import { MAX_PAYLOAD_BYTES } from '../../../domain/event/payload.js';
import { MAX_SUBJECT_LENGTH, parseSubjectHeader } from '../../../domain/event/subject.js';
import { toJson } from '../../../domain/text/unicode.js';
import { readJsonBytes } from '../../http/body.js';
import { type ApiDependencies, type Context, ownerOf } from '../../http/context.js';
import { found } from '../../http/found.js';
import { ledgerPage } from '../../http/ledger-paging.js';
import { type Operation, operation } from '../../http/operation.js';
import { listOperation } from '../../http/paging.js';
import { invalidRequest } from '../../http/validation.js';
import { deliveryParameters, kindParameter, readFilter } from '../deliveries/filters.js';
import { acceptEvent } from './accept-event.js';
import { acceptanceSchema, eventSchema, eventSummarySchema, renderAcceptance } from './event-view.js';

/** Events: what producers send. */
export function eventOperations(dependencies: ApiDependencies): Operation[] {
  return [
    operation('post', '/events/:kind', 'acceptEvent', {
      summary: 'Accept an event and deliver it to every endpoint registered for its kind',
      scope: 'events:write',
      query: z.strictObject({
        schema_version: z.coerce
          .number()
          .int()
          .min(1)
          .optional()
          .describe(
            "Version of the kind's schema that the payload is checked against; absent for the newest",
          ),
      }),
      rawBody: {
        description: 'The payload: valid for the kind, at most 256 KiB. It is delivered byte for byte.',
      },
      headers: {
        'Idempotency-Key':
          'A repeat with the same key and body gives the first answer again and starts nothing twice',
        'Hookline-Key':
          'Business keys that are not in the body, as name=value with commas between: the event can be found by them',
        'Hookline-Subject':
          'The person that the event is about, percent-encoded, if no property of the body is marked x-hookline-subject, or another person is meant: the payload can be erased by it',
        'Hookline-Order-Key':
          'Events with the same key are delivered one after the other to endpoints that ask for it; percent-encoded, if no property of the body is marked x-hookline-order, or another key is meant',
      },
      responses: {
        202: {
          description: 'Accepted: the event is stored, and its deliveries will be made',
          schema: acceptanceSchema,
        },
      },
      location: '/events/:id',
      problems: [
        'invalid_json',
        'invalid_payload',
        'payload_too_complex',
        'unknown_event_kind',
        'idempotency_conflict',
        'payload_too_large',
        'unsupported_media_type',
      ],
      async handle({ params: { kind }, query: { schema_version } }, ctx) {
        const body = await readJsonBytes(ctx, MAX_PAYLOAD_BYTES);
        const acceptance = await acceptEvent(dependencies, ownerOf(ctx), kind, body, {
          idempotencyKey: readIdempotencyKey(ctx),
          schemaVersion: schema_version,
          keys: readKeys(ctx),
          subject: readSubject(ctx),
          orderKey: readOrderKey(ctx),
          trace: ctx.state.trace,
          onNamed: (eventId) => {
            ctx.state.event_id = eventId;
          },
        });
        return renderAcceptance(kind, acceptance);
      },
    }),

    listOperation('/events', 'listEvents', {
      summary: 'List events',
      scope: 'deliveries:read',
      parameters: { kind: kindParameter, ...deliveryParameters },
      page: [
        'A page of events, the latest first; of those with a delivery that matches, if deliveries are filtered, in the order of these deliveries. An event whose deliveries change between two such pages can be on both. A page can have fewer rows than its limit: only a page without next is the last',
        eventSummarySchema,
      ],
      problems: ['record_altered'],
      async read({ account_id, query: { limit, after, kind, ...parameters } }) {
        const filter = await readFilter(dependencies.database, account_id, parameters);
        return ledgerPage(dependencies.database, 'events', account_id, after, (from) =>
          dependencies.events.list(account_id, { ...filter, event_kind: kind }, limit, from),
        );
      },
    }),

    operation('get', '/events/:id', 'getEvent', {
      summary: "Read an event, its payload and its deliveries' states",
      scope: 'deliveries:read',
      responses: { 200: { description: 'The event', schema: eventSchema } },
      problems: ['record_altered'],
      async handle({ account_id, params: { id } }, ctx) {
        const event = await found('event', id, () => dependencies.events.get(account_id, id));
        const { payload, is_erased, is_test: _, deliveries, ...summary } = event;
        // The payload is put in as it was received: parsing it would change numbers that JavaScript cannot hold.
        const rest = toJson({ ...summary, deliveries, ...(is_erased && { payload_erased: true }) });
        ctx.type = 'application/json';
        return `${rest.slice(0, -1)},"payload":${payload ?? 'null'}}`;
      },
    }),
  ];
}

function readKeys(ctx: Context): BusinessKey[] {
  const text = ctx.get('hookline-key');
  if (ctx.req.headers['hookline-key'] === undefined) return [];
  const keys = parseKeyHeader(text);
  if (typeof keys === 'string') throw invalidRequest([{ parameter: 'Hookline-Key', detail: keys }]);
  return keys;
}

function readSubject(ctx: Context): string | undefined {
  if (ctx.req.headers['hookline-subject'] === undefined) return undefined;
  const subject = parseSubjectHeader(ctx.get('hookline-subject'));
  if (subject === undefined) {
    const detail = `must be 1 to ${MAX_SUBJECT_LENGTH} characters; percent-encode what is not visible ASCII`;
    throw invalidRequest([{ parameter: 'Hookline-Subject', detail }]);
  }
  return subject;
}

function readOrderKey(ctx: Context): string | undefined {
  if (ctx.req.headers['hookline-order-key'] === undefined) return undefined;
  const key = parseOrderHeader(ctx.get('hookline-order-key'));
  if (key === undefined) {
    const detail = `must be 1 to ${MAX_ORDER_KEY_LENGTH} characters; percent-encode what is not visible ASCII`;
    throw invalidRequest([{ parameter: 'Hookline-Order-Key', detail }]);
  }
  return key;
}

function readIdempotencyKey(ctx: Context): string | undefined {
  if (ctx.req.headers['idempotency-key'] === undefined) return undefined;
  const key = ctx.get('idempotency-key');
  if (!/^[\x21-\x7e]{1,255}$/.test(key)) {
    const detail = 'must be 1 to 255 visible ASCII characters, without spaces';
    throw invalidRequest([{ parameter: 'Idempotency-Key', detail }]);
  }
  return key;
}
