import { z } from 'zod';
import {
  EVENT_KIND_NAME,
  EVENT_KINDS,
  findEventKind,
  isFreeEventKindName,
  MAX_EVENT_KIND_NAME_LENGTH,
} from '../../../domain/event/event-kinds.js';
import { notFound, Problem } from '../../../domain/http/problem.js';
import type { StoredEventKind } from '../../../models/event/event-kinds.js';
import { invalidRequest } from '../../http/body.js';
import { recordOf } from '../../http/bounds/record-of.js';
import { ownerOf } from '../../http/caller/owner.js';
import type { ApiDependencies, Context } from '../../http/context.js';
import { type Operation, operation, pathTo } from '../../http/operation.js';
import { originOf } from '../../http/origin.js';
import { pagingParameters, renderPage } from '../../http/paging.js';
import { pageOf } from '../../http/schemas.js';
import { eventKindSchema, renderBuiltInKind, renderOwnKind } from './event-kind-view.js';

/** Event kinds that one account may add, and versions that one of them may have. */
const MAX_EVENT_KINDS = 200;
const MAX_VERSIONS = 50;
/** Members of a schema: more than there are keywords. */
const MAX_SCHEMA_MEMBERS = 100;

const kindBody = z.strictObject({
  description: z.string().max(1_000).default(''),
  schema: recordOf(z.string(), z.unknown(), MAX_SCHEMA_MEMBERS).describe(
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
    operation({
      method: 'post',
      path: '/event_kinds',
      id: 'createEventKind',
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
      problems: ['invalid_request', 'event_kind_conflict', 'event_kind_limit_reached'],
      async handle(ctx, { body: { name, description, schema } }) {
        const { account_id } = ctx.state.caller;
        if (!isFreeEventKindName(name))
          throw invalidRequest([{ pointer: '/name', detail: 'is a name that Hookline uses itself' }]);
        await checkSchema(ctx, schema);
        const kind = await accountLocks.hold(account_id, 'event_kinds', async () => {
          if ((await eventKinds.count(account_id)) >= MAX_EVENT_KINDS) {
            const detail = `The account has ${MAX_EVENT_KINDS} event kinds, as many as it may have.`;
            throw new Problem('event_kind_limit_reached', detail);
          }
          return eventKinds.create(account_id, name, description, schema, originOf(ctx));
        });
        if (!kind)
          throw new Problem(
            'event_kind_conflict',
            `There is an event kind ${name} already. PUT it to give it a new version.`,
          );
        ctx.status = 201;
        ctx.set('location', pathTo(ctx, '/event_kinds/:name', { name }));
        ctx.body = renderOwnKind(kind);
      },
    }),

    operation({
      method: 'get',
      path: '/event_kinds',
      id: 'listEventKinds',
      summary: "List event kinds, built-in ones and the account's own, by name",
      scope: 'endpoints:read',
      query: z.strictObject(pagingParameters),
      responses: { 200: { description: 'A page of kinds', schema: pageOf(eventKindSchema) } },
      problems: [],
      async handle(ctx, { query: { limit, after } }) {
        const own = (await eventKinds.all(ctx.state.caller.account_id)).map(renderOwnKind);
        const ownNames = new Set(own.map(({ name }) => name));
        const builtIn = EVENT_KINDS.filter(({ name }) => !ownNames.has(name)).map(renderBuiltInKind);
        const all = [...builtIn, ...own].sort((a, b) => (a.name < b.name ? -1 : 1));
        const last = after === undefined ? '' : Buffer.from(after, 'base64url').toString();
        const rest = all.filter(({ name }) => name > last);
        const data = rest.slice(0, limit);
        const next = rest.length > limit && {
          after: Buffer.from(data.at(-1)?.name ?? '').toString('base64url'),
        };
        ctx.body = renderPage(ctx, { data, ...next });
      },
    }),

    operation({
      method: 'get',
      path: '/event_kinds/:name',
      id: 'getEventKind',
      summary: 'Read an event kind, with all versions of its schema',
      scope: 'endpoints:read',
      responses: { 200: { description: 'The kind', schema: eventKindSchema } },
      problems: [],
      async handle(ctx, { params: { name = '' } }) {
        const { account_id } = ctx.state.caller;
        const own = EVENT_KIND_NAME.test(name) ? await eventKinds.get(account_id, name) : undefined;
        const builtIn = findEventKind(name);
        if (own) ctx.body = renderOwnKind(own);
        else if (builtIn) ctx.body = renderBuiltInKind(builtIn);
        else throw notFound('event kind', name);
      },
    }),

    operation({
      method: 'put',
      path: '/event_kinds/:name',
      id: 'replaceEventKind',
      summary:
        'Change an event kind; a new schema becomes its next version, against which events are checked from then on',
      scope: 'endpoints:write',
      closedToPortal: true,
      body: kindBody,
      responses: { 200: { description: 'The kind after the change', schema: eventKindSchema } },
      problems: ['invalid_request', 'event_kind_conflict', 'event_kind_limit_reached'],
      async handle(ctx, { params: { name = '' }, body: { description, schema } }) {
        const { account_id } = ctx.state.caller;
        const before = await find(account_id, name);
        await checkSchema(ctx, schema);
        if (before.versions.length >= MAX_VERSIONS)
          throw new Problem(
            'event_kind_limit_reached',
            `The event kind has ${MAX_VERSIONS} versions, as many as it may have.`,
          );
        const kind = await eventKinds.change(account_id, before, description, schema, originOf(ctx));
        if (!kind)
          throw new Problem(
            'event_kind_conflict',
            'The event kind was changed at the same time. Send it again.',
          );
        ctx.body = renderOwnKind(kind);
      },
    }),

    operation({
      method: 'delete',
      path: '/event_kinds/:name',
      id: 'deleteEventKind',
      summary: 'Remove an event kind that no endpoint is registered for by name',
      scope: 'endpoints:write',
      closedToPortal: true,
      responses: { 204: { description: 'Removed' } },
      problems: ['event_kind_conflict'],
      async handle(ctx, { params: { name = '' } }) {
        const { account_id } = ctx.state.caller;
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
        ctx.status = 204;
      },
    }),
  ];
}
