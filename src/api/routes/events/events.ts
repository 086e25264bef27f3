import { z } from 'zod';
import { MAX_PAYLOAD_BYTES } from '../../../../packages/payload-contract/src/index.js';
import { readJsonBytes } from '../../http/body.js';
import { type ApiDependencies, ownerOf } from '../../http/context.js';
import { found } from '../../http/found.js';
import { ledgerPage } from '../../http/ledger-paging.js';
import { type Operation, operation } from '../../http/operation.js';
import { listOperation } from '../../http/paging.js';
import { WithText } from '../../http/selected.js';
import { invalidRequest } from '../../http/validation.js';
import { deliveryParameters, kindParameter, readFilter } from '../deliveries/filters.js';
import { acceptEvent } from './accept-event.js';
import { batchOperations } from './batch.js';
import { EVENT_HEADERS, readEventHeaders, schemaVersion } from './event-headers.js';
import { acceptanceSchema, eventSchema, eventSummarySchema, renderAcceptance } from './event-view.js';

/** Events: what producers send. */
export function eventOperations(dependencies: ApiDependencies): Operation[] {
  return [
    ...batchOperations(dependencies),
    operation('post', '/events/:kind', 'acceptEvent', {
      summary: 'Accept an event and deliver it to every endpoint registered for its kind',
      scope: 'events:write',
      query: z.strictObject({
        schema_version: schemaVersion(''),
      }),
      rawBody: {
        description: 'The payload: valid for the kind, at most 256 KiB. It is delivered byte for byte.',
      },
      headers: EVENT_HEADERS,
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
        'record_altered',
        'payload_too_large',
        'unsupported_media_type',
      ],
      async handle({ params: { kind }, query: { schema_version } }, ctx) {
        const body = await readJsonBytes(ctx, MAX_PAYLOAD_BYTES);
        if (ctx.req.headers['hookline-deliver-at'] !== undefined) {
          const detail = `cannot be sent here: post the event to /scheduled_events/${kind}`;
          throw invalidRequest([{ parameter: 'Hookline-Deliver-At', detail }]);
        }
        const request = { kind, body, schemaVersion: schema_version, trace: ctx.state.trace };
        const headers = readEventHeaders(ctx);
        const acceptance = await acceptEvent(
          dependencies,
          ownerOf(ctx),
          { ...request, ...headers },
          (eventId) => {
            ctx.state.event_id = eventId;
          },
        );
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
      async handle({ account_id, params: { id } }) {
        const event = await found('event', id, () => dependencies.events.get(account_id, id));
        const { payload, is_erased, is_test: _, deliveries, ...summary } = event;
        const rest = { ...summary, deliveries, ...(is_erased && { payload_erased: true }) };
        // The payload is put in as it was received: parsing it would change numbers that JavaScript cannot hold.
        return new WithText(rest, 'payload', payload ?? 'null');
      },
    }),
  ];
}
