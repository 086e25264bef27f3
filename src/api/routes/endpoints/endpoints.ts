import { z } from 'zod';
import { deliveryId, isId, newId } from '../../../domain/basics/ids.js';
import { notFound, Problem } from '../../../domain/http/problem.js';
import type { EndpointInput, StoredEndpoint } from '../../../models/endpoint/endpoint-document.js';
import type { ApiDependencies, Context } from '../../http/context.js';
import { type Operation, operation } from '../../http/operation.js';
import { pagingParameters, renderPage } from '../../http/paging.js';
import { pageOf } from '../../http/schemas.js';
import { kindNames } from '../event-kinds/find-kind.js';
import { acceptanceSchema } from '../events/event-view.js';
import { changeEndpoint } from './change-endpoint.js';
import { checkEndpoint, endpointBody, newEndpointBody } from './endpoint-body.js';
import {
  endpointSchema,
  endpointWithIncidentSchema,
  endpointWithSecretSchema,
  renderEndpoint,
  renderKeys,
} from './endpoint-view.js';

/** Endpoints: where events are sent. */
export function endpointOperations(dependencies: ApiDependencies): Operation[] {
  const { settings, addressPolicy, database, starter, endpointWorkflows, incidents } = dependencies;
  const { endpoints } = database;
  const rules = {
    allowHttp: settings.HOOKLINE_ALLOW_HTTP,
    addresses: addressPolicy,
    verificationRequired: settings.HOOKLINE_ENDPOINT_VERIFICATION !== 'off',
  };

  const create = async (accountId: string, input: EndpointInput, scheme: 'v1' | 'v1a') => {
    const limit = settings.HOOKLINE_MAX_ENDPOINTS;
    if ((await endpoints.count(accountId)) >= limit) {
      const detail = `The account has ${limit} endpoints, as many as it may have. Delete one that is not needed.`;
      throw new Problem('endpoint_limit_reached', detail);
    }
    const endpoint = await endpoints.create(accountId, input, scheme);
    if (endpoint.status === 'pending') {
      try {
        await endpointWorkflows.verify({ account_id: accountId, endpoint_id: endpoint.id });
      } catch (error) {
        // Nobody would ever ask it, and its owner is told that nothing was accepted.
        await endpoints.delete(accountId, endpoint.id);
        throw error;
      }
    }
    return endpoint;
  };

  return [
    operation({
      method: 'post',
      path: '/endpoints',
      id: 'createEndpoint',
      summary: 'Register an endpoint',
      scope: 'endpoints:write',
      body: newEndpointBody,
      responses: {
        201: { description: 'The endpoint, with its signing secret', schema: endpointWithSecretSchema },
      },
      problems: ['invalid_request', 'insecure_target_url', 'endpoint_limit_reached'],
      async handle(ctx, { body: { signature_scheme, ...body } }) {
        const { account_id } = ctx.state.caller;
        const input = checkEndpoint(body, rules, await kindNames(database, account_id));
        const endpoint = await create(account_id, input, signature_scheme);
        ctx.status = 201;
        ctx.set('location', `${ctx.path}/${endpoint.id}`);
        ctx.set('cache-control', 'no-store');
        ctx.body = { ...renderEndpoint(endpoint), ...renderKeys(endpoint) };
      },
    }),

    operation({
      method: 'get',
      path: '/endpoints',
      id: 'listEndpoints',
      summary: 'List endpoints, oldest first',
      scope: 'endpoints:read',
      query: z.strictObject({
        ...pagingParameters,
        after: z
          .string()
          .refine(
            (text) => isId('endpoint', text),
            'must be a cursor of this list, as an earlier page gave it',
          )
          .optional(),
      }),
      responses: { 200: { description: 'A page of endpoints', schema: pageOf(endpointSchema) } },
      problems: [],
      async handle(ctx, { query: { limit, after } }) {
        const all = await endpoints.all(ctx.state.caller.account_id);
        const rest = all.filter((endpoint) => after === undefined || endpoint.id > after);
        const data = rest.slice(0, limit).map(renderEndpoint);
        ctx.body = renderPage(ctx, { data, ...(rest.length > limit && { after: data.at(-1)?.id }) });
      },
    }),

    operation({
      method: 'get',
      path: '/endpoints/:id',
      id: 'getEndpoint',
      summary: 'Read an endpoint',
      scope: 'endpoints:read',
      responses: {
        200: {
          description: 'The endpoint, with its incident where it is failing',
          schema: endpointWithIncidentSchema,
        },
      },
      problems: [],
      async handle(ctx, { params: { id = '' } }) {
        const endpoint = await findEndpoint(dependencies, ctx, id);
        const { account_id } = endpoint;
        const incident = endpoint.failing && (await incidents.get({ account_id, endpoint_id: id }));
        ctx.body = { ...renderEndpoint(endpoint), ...(incident && { incident }) };
      },
    }),

    operation({
      method: 'put',
      path: '/endpoints/:id',
      id: 'replaceEndpoint',
      summary: 'Replace what the owner of an endpoint sets; another target URL has to be verified again',
      scope: 'endpoints:write',
      body: endpointBody,
      responses: { 200: { description: 'The endpoint after it', schema: endpointSchema } },
      problems: ['invalid_request', 'insecure_target_url', 'endpoint_state_conflict'],
      async handle(ctx, { params: { id = '' }, body }) {
        const kinds = await kindNames(database, ctx.state.caller.account_id);
        const endpoint = await changeEndpoint(dependencies, ctx, id, (before) =>
          checkEndpoint(body, rules, kinds, before),
        );
        ctx.body = renderEndpoint(endpoint);
      },
    }),

    operation({
      method: 'delete',
      path: '/endpoints/:id',
      id: 'deleteEndpoint',
      summary: 'Remove an endpoint; its open deliveries are cancelled when they next look at it',
      scope: 'endpoints:write',
      responses: { 204: { description: 'Removed' } },
      problems: [],
      async handle(ctx, { params: { id = '' } }) {
        const { account_id } = await findEndpoint(dependencies, ctx, id);
        await endpoints.delete(account_id, id);
        // Parked deliveries must not wait for an endpoint that will not return.
        await starter.release({ account_id, endpoint_id: id });
        ctx.status = 204;
      },
    }),

    operation({
      method: 'post',
      path: '/endpoints/:id/test',
      id: 'testEndpoint',
      summary: 'Send a test event to an endpoint, whatever kinds it is registered for',
      scope: 'endpoints:write',
      responses: { 202: { description: 'Accepted: the delivery is persisted', schema: acceptanceSchema } },
      problems: ['endpoint_state_conflict'],
      async handle(ctx, { params: { id = '' } }) {
        const { account_id, status } = await findEndpoint(dependencies, ctx, id);
        if (status === 'pending')
          throw new Problem('endpoint_state_conflict', 'The endpoint gets no events before it is verified.');
        const accepted_at = new Date().toISOString();
        const event_id = newId('event');
        const payload = JSON.stringify({
          endpoint_id: id,
          message: 'This is a test.',
          created_at: accepted_at,
        });
        const event = { account_id, event_id, event_kind: TEST_KIND, payload, accepted_at };
        await starter.accept(event, [{ endpoint_id: id }]);
        ctx.status = 202;
        ctx.body = {
          id: event_id,
          kind: TEST_KIND,
          created_at: accepted_at,
          delivery_count: 1,
          deliveries: [{ id: deliveryId({ event_id, endpoint_id: id }), endpoint_id: id }],
        };
      },
    }),
  ];
}

/** Kind of the event that `POST /endpoints/{id}/test` sends. */
const TEST_KIND = 'endpoint.test';

/** An endpoint of the caller's account. @throws Problem 404 if the account has no such endpoint */
export async function findEndpoint(
  { database }: ApiDependencies,
  ctx: Context,
  id: string,
): Promise<StoredEndpoint> {
  const { account_id } = ctx.state.caller;
  const endpoint = isId('endpoint', id) ? await database.endpoints.get(account_id, id) : undefined;
  if (!endpoint) throw notFound('endpoint', id);
  return endpoint;
}
