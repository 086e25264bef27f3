import { z } from 'zod';
import {
  EVENT_KIND_NAME,
  EVENT_KINDS,
  type EventKind,
  findEventKind,
  isFreeEventKindName,
  MAX_EVENT_KIND_NAME_LENGTH,
} from '../../../domain/event/event-kinds.js';
import { notFound, Problem } from '../../../domain/http/problem.js';
import type { StoredEventKind } from '../../../models/event/event-kinds.js';
import { recordOf } from '../../http/bounds/find-excess.js';
import { type ApiDependencies, type Context, ownerOf } from '../../http/context.js';
import { type Operation, operation } from '../../http/operation.js';
import { originOf } from '../../http/origin.js';
import { listOperation } from '../../http/paging.js';
import { timeSchema as time } from '../../http/schemas.js';
import { invalidRequest } from '../../http/validation.js';

/**
 * Event kinds that one account may add, versions that one of them may have, and members of a schema: more than there
 * are keywords.
 */
const MOST = { kinds: 200, versions: 50, members: 100 };

const schemaVersion = { version: z.int(), schema: z.record(z.string(), z.unknown()) };

const eventKindSchema = z
  .object({
    name: z.string(),
    description: z.string(),
    built_in: z.boolean(),
    overrides_built_in: z
      .boolean()
      .optional()
      .describe('true: the account added the kind before Hookline had one of that name, and keeps its own'),
    ...schemaVersion,
    versions: z.array(z.object({ ...schemaVersion, created_at: time.optional() })),
    created_at: time.optional(),
    updated_at: time.optional(),
  })
  .meta({ id: 'EventKind' });

/** A kind that an account has added, as it is shown. */
function renderOwnKind({ name, description, versions, created_at, updated_at }: StoredEventKind) {
  const newest = versions.at(-1);
  return {
    name,
    description,
    built_in: false,
    ...(findEventKind(name) && { overrides_built_in: true }),
    version: newest?.version,
    schema: newest?.schema,
    versions,
    created_at,
    updated_at,
  };
}

/** A kind that every account has, as it is shown. */
function renderBuiltInKind({ name, description, version, schema }: EventKind) {
  return { name, description, built_in: true, version, schema, versions: [{ version, schema }] };
}

const kindBody = z.strictObject({
  description: z.string().max(1_000).default(''),
  schema: recordOf(z.string(), z.unknown(), MOST.members).describe(
    'JSON Schema, draft 2020-12, within the bounds of docs/events.md',
  ),
});
const newKindBody = kindBody.extend({
  name: z
    .string()
    .max(MAX_EVENT_KIND_NAME_LENGTH)
    .regex(EVENT_KIND_NAME, 'must be words of a-z, 0-9 and _ with dots between, such as order.shipped'),
});

/** The catalogue: which kinds of events there are, and what their payloads look like. */
export function eventKindOperations({ database, payloads }: ApiDependencies): Operation[] {
  const { accountLocks, eventKinds, endpoints } = database;

  const find = async (accountId: string, name: string): Promise<StoredEventKind> => {
    const kind = EVENT_KIND_NAME.test(name) ? await eventKinds.get(accountId, name) : undefined;
    if (kind) return kind;
    if (findEventKind(name))
      throw new Problem('event_kind_conflict', `The event kind ${name} is built in and cannot be changed.`);
    throw notFound('event kind', name);
  };

  const checkSchema = async (ctx: Context, schema: Record<string, unknown>): Promise<void> => {
    const errors = await payloads.checkSchema(ownerOf(ctx), schema);
    if (errors.length > 0) throw invalidRequest(errors);
  };

  return [
    operation('post', '/event_kinds', 'createEventKind', {
      summary: 'Add an event kind, with the first version of its schema',
      scope: 'endpoints:write',
      closedToPortal: true,
      body: newKindBody,
      example: {
        name: 'order.shipped',
        description: 'An order has left the warehouse.',
        schema: { type: 'object', required: ['order_id'], properties: { order_id: { type: 'string' } } },
      },
      responses: { 201: { description: 'The kind', schema: eventKindSchema } },
      location: '/event_kinds/:name',
      problems: ['invalid_request', 'event_kind_conflict', 'event_kind_limit_reached'],
      async handle({ account_id, body: { name, description, schema } }, ctx) {
        if (!isFreeEventKindName(name))
          throw invalidRequest([{ pointer: '/name', detail: 'is a name that Hookline uses itself' }]);
        await checkSchema(ctx, schema);
        const kind = await accountLocks.hold(account_id, 'event_kinds', async () => {
          if ((await eventKinds.count(account_id)) >= MOST.kinds) {
            const detail = `The account has ${MOST.kinds} event kinds, as many as it may have.`;
            throw new Problem('event_kind_limit_reached', detail);
          }
          return eventKinds.create(account_id, name, description, schema, originOf(ctx));
        });
        if (!kind)
          throw new Problem(
            'event_kind_conflict',
            `There is an event kind ${name} already. PUT it to give it a new version.`,
          );
        return renderOwnKind(kind);
      },
    }),

    listOperation('/event_kinds', 'listEventKinds', {
      summary: "List event kinds, built-in ones and the account's own, by name",
      scope: 'endpoints:read',
      page: ['A page of kinds', eventKindSchema],
      async read({ account_id, query: { limit, after } }) {
        const own = (await eventKinds.all(account_id)).map(renderOwnKind);
        const ownNames = new Set(own.map(({ name }) => name));
        const builtIn = EVENT_KINDS.filter(({ name }) => !ownNames.has(name)).map(renderBuiltInKind);
        const all = [...builtIn, ...own].sort((a, b) => (a.name < b.name ? -1 : 1));
        const last = after === undefined ? '' : Buffer.from(after, 'base64url').toString();
        const rest = all.filter(({ name }) => name > last);
        const data = rest.slice(0, limit);
        const next = rest.length > limit && {
          after: Buffer.from(data.at(-1)?.name ?? '').toString('base64url'),
        };
        return { data, ...next };
      },
    }),

    operation('get', '/event_kinds/:name', 'getEventKind', {
      summary: 'Read an event kind, with all versions of its schema',
      scope: 'endpoints:read',
      responses: { 200: { description: 'The kind', schema: eventKindSchema } },
      async handle({ account_id, params: { name } }) {
        const own = EVENT_KIND_NAME.test(name) ? await eventKinds.get(account_id, name) : undefined;
        const builtIn = findEventKind(name);
        if (own) return renderOwnKind(own);
        if (builtIn) return renderBuiltInKind(builtIn);
        throw notFound('event kind', name);
      },
    }),

    operation('put', '/event_kinds/:name', 'replaceEventKind', {
      summary:
        'Change an event kind; a new schema becomes its next version, against which events are checked from then on',
      scope: 'endpoints:write',
      closedToPortal: true,
      body: kindBody,
      responses: { 200: { description: 'The kind after the change', schema: eventKindSchema } },
      problems: ['invalid_request', 'event_kind_conflict', 'event_kind_limit_reached'],
      async handle({ account_id, params: { name }, body: { description, schema } }, ctx) {
        await find(account_id, name);
        await checkSchema(ctx, schema);
        const kind = await accountLocks.hold(account_id, 'event_kinds', async () => {
          const before = await find(account_id, name);
          if (before.versions.length >= MOST.versions)
            throw new Problem(
              'event_kind_limit_reached',
              `The event kind has ${MOST.versions} versions, as many as it may have.`,
            );
          return eventKinds.change(account_id, before, description, schema, originOf(ctx));
        });
        if (!kind)
          throw new Problem(
            'event_kind_conflict',
            'The event kind was changed at the same time. Send it again.',
          );
        return renderOwnKind(kind);
      },
    }),

    operation('delete', '/event_kinds/:name', 'deleteEventKind', {
      summary: 'Remove an event kind that no endpoint is registered for by name',
      scope: 'endpoints:write',
      closedToPortal: true,
      responses: { 204: { description: 'Removed' } },
      problems: ['event_kind_conflict'],
      async handle({ account_id, params: { name } }, ctx) {
        await find(account_id, name);
        const users = (await endpoints.all(account_id)).filter(({ event_kinds }) =>
          event_kinds.includes(name),
        );
        if (users.length > 0) {
          const ids = users.slice(0, 5).map(({ id }) => id);
          throw new Problem(
            'event_kind_conflict',
            `${users.length} endpoints are registered for it: ${ids.join(', ')}.`,
          );
        }
        await eventKinds.delete(account_id, name, originOf(ctx));
      },
    }),
  ];
}
