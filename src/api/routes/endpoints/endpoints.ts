import { z } from 'zod';
import { isId } from '../../../domain/basics/ids.js';
import { notFound } from '../../../domain/http/problem.js';
import type { StoredEndpoint } from '../../../models/endpoint/endpoint-document.js';
import { ownerOf } from '../../http/caller/owner.js';
import type { ApiDependencies, Context } from '../../http/context.js';
import { type Operation, operation, pathTo } from '../../http/operation.js';
import { originOf } from '../../http/origin.js';
import { timeParameter } from '../deliveries/filters.js';
import { kindNames } from '../event-kinds/find-kind.js';
import { acceptanceSchema } from '../events/event-view.js';
import { createEndpoint } from './create-endpoint.js';
import { deleteEndpoint } from './delete-endpoint.js';
import { checkEndpoint, endpointRules, newEndpointBody } from './endpoint-body.js';
import {
  endpointWithIncidentSchema,
  endpointWithSecretSchema,
  renderEndpoint,
  renderKeys,
} from './endpoint-view.js';
import { listEndpointsOperation } from './list-endpoints.js';
import { endpointAt } from './past-endpoint.js';
import { sendTestEvent, testBody } from './test-event.js';

/** Endpoints: where events are sent. */
export function endpointOperations(dependencies: ApiDependencies): Operation[] {
  const { database, incidents } = dependencies;
  const { endpoints } = database;
  const rules = endpointRules(dependencies);

  return [
    operation({
      method: 'post',
      path: '/endpoints',
      id: 'createEndpoint',
      summary: 'Register an endpoint',
      scope: 'endpoints:write',
      body: newEndpointBody,
      example: {
        target_url: 'https://shop.example.com/hooks',
        event_kinds: ['purchase'],
        description: 'Order processing',
      },
      responses: {
        201: { description: 'The endpoint, with its signing secret', schema: endpointWithSecretSchema },
      },
      problems: ['invalid_request', 'insecure_target_url', 'endpoint_limit_reached', 'filter_limit_reached'],
      async handle(ctx, { body: { signature_scheme, ...body } }) {
        const { account_id } = ctx.state.caller;
        const input = checkEndpoint(body, rules, await kindNames(database, account_id));
        const endpoint = await createEndpoint(
          dependencies,
          account_id,
          input,
          signature_scheme,
          originOf(ctx),
        );
        ctx.status = 201;
        ctx.set('location', pathTo(ctx, '/endpoints/:id', { id: endpoint.id }));
        ctx.set('cache-control', 'no-store');
        ctx.body = { ...renderEndpoint(endpoint), ...renderKeys(endpoints.secretsOf(endpoint)) };
      },
    }),

    listEndpointsOperation(dependencies),

    operation({
      method: 'get',
      path: '/endpoints/:id',
      id: 'getEndpoint',
      summary: 'Read an endpoint, as it is or as it was',
      scope: 'endpoints:read',
      query: z.strictObject({
        as_of: timeParameter.describe(
          'As it was then, also if it has been deleted since; without its incident',
        ),
      }),
      responses: {
        200: {
          description: 'The endpoint, with its incident if it is failing',
          schema: endpointWithIncidentSchema,
        },
      },
      problems: [],
      async handle(ctx, { params: { id = '' }, query: { as_of } }) {
        if (as_of) {
          ctx.body = await endpointAt(dependencies, ctx.state.caller.account_id, id, as_of);
          return;
        }
        const endpoint = await findEndpoint(dependencies, ctx, id);
        const { account_id } = endpoint;
        const incident = endpoint.failing && (await incidents.get({ account_id, endpoint_id: id }));
        ctx.body = { ...renderEndpoint(endpoint), ...(incident && { incident }) };
      },
    }),

    operation({
      method: 'delete',
      path: '/endpoints/:id',
      id: 'deleteEndpoint',
      summary: 'Remove an endpoint; its open deliveries are cancelled before their next attempt',
      scope: 'endpoints:write',
      responses: { 204: { description: 'Removed' } },
      problems: [],
      async handle(ctx, { params: { id = '' } }) {
        await deleteEndpoint(dependencies, ctx.state.caller.account_id, id, originOf(ctx));
        ctx.status = 204;
      },
    }),

    operation({
      method: 'post',
      path: '/endpoints/:id/test',
      id: 'testEndpoint',
      summary:
        'Send a test event, or the example of a kind, to an endpoint, whatever kinds it is registered for',
      scope: 'endpoints:write',
      body: testBody,
      bodyIsOptional: true,
      example: { event_kind: 'purchase' },
      responses: { 202: { description: 'Accepted: the delivery is persisted', schema: acceptanceSchema } },
      problems: ['endpoint_state_conflict', 'unknown_event_kind', 'event_kind_conflict', 'invalid_payload'],
      async handle(ctx, { params: { id = '' }, body: { event_kind } }) {
        const endpoint = await findEndpoint(dependencies, ctx, id);
        const event = await sendTestEvent(dependencies, endpoint, ownerOf(ctx), event_kind);
        ctx.status = 202;
        ctx.set('location', pathTo(ctx, '/events/:id', { id: event.id }));
        ctx.body = event;
      },
    }),
  ];
}

/** An endpoint of the caller's account. @throws Problem 404 if the account has no such endpoint */
export async function findEndpoint(
  { database }: Pick<ApiDependencies, 'database'>,
  ctx: Context,
  id: string,
): Promise<StoredEndpoint> {
  const { account_id } = ctx.state.caller;
  const endpoint = isId('endpoint', id) ? await database.endpoints.get(account_id, id) : undefined;
  if (!endpoint) throw notFound('endpoint', id);
  return endpoint;
}
