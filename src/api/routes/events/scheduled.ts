import { z } from 'zod';
import { MAX_PAYLOAD_BYTES } from '../../../../packages/payload-contract/src/index.js';
import { createdAt } from '../../../domain/basics/id-time.js';
import { newId } from '../../../domain/basics/ids.js';
import { Problem } from '../../../domain/http/problem.js';
import { keyIdOf } from '../../../domain/privacy/data-key.js';
import { sharedNow } from '../../../domain/time/shared-time.js';
import type { ScheduledEvent } from '../../../models/event/scheduled-events.js';
import { readJsonBytes } from '../../http/body.js';
import { type ApiDependencies, ownerOf } from '../../http/context.js';
import { found } from '../../http/found.js';
import { type Operation, operation } from '../../http/operation.js';
import { listOperation } from '../../http/paging.js';
import { timeSchema as time } from '../../http/schemas.js';
import { checkEvent, requireSame } from './accept-event.js';
import { dueAt, EVENT_HEADERS, readDueAt, readEventHeaders, schemaVersion } from './event-headers.js';

/** Events of an account that may wait at the same time. */
export const MAX_SCHEDULED = 10_000;

const scheduledSchema = z
  .object({
    id: z.string(),
    kind: z.string(),
    created_at: time,
    deliver_at: time,
    status: z.enum(['scheduled', 'sent']),
    event_id: z.string().optional().describe('The event that was made of it; absent until it is sent'),
    named_endpoints: z.array(z.string()).optional().describe('The only endpoints that may get it'),
  })
  .meta({ id: 'ScheduledEvent' });

/** Events that are sent at a later time. */
export function scheduledOperations(dependencies: ApiDependencies): Operation[] {
  const { database, scheduledExecutions, sealer } = dependencies;
  const one = (accountId: string, id: string) =>
    found('scheduled_event', id, () => database.scheduled.get(accountId, id));

  return [
    operation('post', '/scheduled_events/:kind', 'scheduleEvent', {
      summary: 'Accept an event that is sent at a later time, to the endpoints that it matches then',
      scope: 'events:write',
      query: z.strictObject({
        schema_version: schemaVersion(' now'),
        deliver_after: z
          .string()
          .max(40)
          .optional()
          .describe(
            'How long to wait: seconds, or a duration of ISO 8601 in weeks, days, hours, minutes and seconds (PT2H)',
          ),
      }),
      rawBody: { description: 'The payload, as of an event that is sent at once' },
      headers: {
        ...EVENT_HEADERS,
        'Hookline-Deliver-At': 'When the event is sent, at most a year ahead: a time of RFC 3339 or RFC 9110',
      },
      responses: {
        201: { description: 'The event is stored, and will be sent then', schema: scheduledSchema },
      },
      location: '/scheduled_events/:id',
      problems: [
        'invalid_json',
        'invalid_payload',
        'payload_too_complex',
        'unknown_event_kind',
        'idempotency_conflict',
        'record_altered',
        'scheduled_event_limit_reached',
        'payload_too_large',
        'unsupported_media_type',
      ],
      async handle({ account_id, params: { kind }, query: { schema_version, deliver_after } }, ctx) {
        const now = sharedNow();
        const due_at = readDueAt(ctx, deliver_after, now);
        const headers = readEventHeaders(ctx);
        const body = await readJsonBytes(ctx, MAX_PAYLOAD_BYTES);
        const request = { kind, body, schemaVersion: schema_version, ...headers };
        const checked = await checkEvent(dependencies, ownerOf(ctx), request);
        const id = newId('scheduled_event', now);
        const { once: asked, keys, orderToken, payload, hints } = checked;
        const once = asked ? `${account_id}:${asked.key}` : id;
        const same = (there: ScheduledEvent) => {
          requireSame(checked, there as never);
          return view(there);
        };
        const before = asked && (await database.scheduled.withOnce(once));
        if (before) return same(before);
        if ((await database.scheduled.count(account_id)) >= MAX_SCHEDULED)
          throw new Problem(
            'scheduled_event_limit_reached',
            `At most ${MAX_SCHEDULED} events of an account may wait.`,
          );
        const { subject } = hints;
        const context = { accountId: account_id, eventId: id, subject };
        const { sealed, commitment } = await sealer.sealCommitted(context, payload);
        const event: ScheduledEvent = {
          ...{ _id: id, account_id, event_kind: checked.kind, due_at, sealed, commitment, once },
          key: keyIdOf(sealed),
          ...(keys.length > 0 && { keys }),
          ...(subject !== undefined && { subject }),
          ...(orderToken !== undefined && { order_token: orderToken }),
          ...(headers.endpointIds && { named_endpoints: headers.endpointIds }),
          ...(asked && { body_hash: asked.body_hash }),
        };
        // First, so that no event is stored that nothing sends. An execution that finds no event ends by itself.
        await scheduledExecutions.start({ account_id, id, event_kind: checked.kind, due_at });
        const there = await database.scheduled.insert(event);
        return there ? same(there) : view(event);
      },
    }),

    listOperation('/scheduled_events', 'listScheduledEvents', {
      summary: 'List the scheduled events that wait, the latest first',
      scope: 'deliveries:read',
      page: ['A page of scheduled events', scheduledSchema],
      problems: ['record_altered'],
      read: async ({ account_id, query: { limit, after } }) =>
        (await database.scheduled.waiting(account_id, limit + 1, after)).map(view),
    }),

    operation('get', '/scheduled_events/:id', 'getScheduledEvent', {
      summary: 'Read a scheduled event, also for 30 days after it was sent',
      scope: 'deliveries:read',
      responses: { 200: { description: 'The scheduled event', schema: scheduledSchema } },
      problems: ['record_altered'],
      handle: async ({ account_id, params: { id } }) => view(await one(account_id, id)),
    }),

    operation('patch', '/scheduled_events/:id', 'changeScheduledEvent', {
      summary: 'Send a scheduled event at another time',
      scope: 'events:write',
      body: z.strictObject({ deliver_at: time }),
      responses: { 200: { description: 'The scheduled event as it is now', schema: scheduledSchema } },
      problems: ['record_altered', 'scheduled_event_conflict'],
      async handle({ account_id, params: { id }, body: { deliver_at } }) {
        const due_at = dueAt(Date.parse(deliver_at), sharedNow(), 'deliver_at');
        const before = await one(account_id, id);
        const changed = before.event_id ? undefined : await database.scheduled.change(before, due_at);
        if (!changed) throw sentAlready(id);
        const execution = { account_id, id, event_kind: changed.event_kind, due_at };
        await scheduledExecutions.start(execution, 'TERMINATE_EXISTING');
        return view(changed);
      },
    }),

    operation('delete', '/scheduled_events/:id', 'cancelScheduledEvent', {
      summary: 'Cancel a scheduled event: it is not sent',
      scope: 'events:write',
      responses: { 204: { description: 'It is cancelled, and its payload is gone' } },
      problems: ['record_altered', 'scheduled_event_conflict'],
      async handle({ account_id, params: { id } }, ctx) {
        const before = await one(account_id, id);
        if (before.event_id || !(await database.scheduled.remove(before))) throw sentAlready(id);
        await scheduledExecutions.end({ account_id, id });
        ctx.status = 204;
      },
    }),
  ];
}

function sentAlready(id: string): Problem {
  return new Problem('scheduled_event_conflict', `${id} has been sent, or was changed at the same time.`);
}

function view({ _id: id, event_kind: kind, due_at, event_id, named_endpoints, expires_at }: ScheduledEvent) {
  return {
    ...{ id, kind, created_at: createdAt(id), deliver_at: due_at.toISOString() },
    status: expires_at ? 'sent' : 'scheduled',
    ...(expires_at && { event_id }),
    ...(named_endpoints && { named_endpoints }),
  };
}
