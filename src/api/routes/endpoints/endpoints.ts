import { z } from 'zod';
import { isId } from '../../../domain/basics/ids.js';
import { resourceName } from '../../../domain/change/change.js';
import { newSigningSecret } from '../../../domain/delivery/signature.js';
import { notFound, Problem } from '../../../domain/http/problem.js';
import type { StoredEndpoint } from '../../../models/endpoint/endpoint-document.js';
import { type ApiDependencies, type Context, ownerOf } from '../../http/context.js';
import { found } from '../../http/found.js';
import { type Operation, operation } from '../../http/operation.js';
import { originOf } from '../../http/origin.js';
import { cutPage, listOperation } from '../../http/paging.js';
import { timeParameter } from '../deliveries/filters.js';
import { kindNames } from '../event-kinds/find-kind.js';
import { acceptanceSchema } from '../events/event-view.js';
import { checkEndpoint, newEndpointBody } from './endpoint-body.js';
import {
  endpointParameters,
  endpointWithIncidentSchema,
  endpointWithSecretSchema,
  renderEndpoint,
  renderKeys,
  withIncident,
} from './endpoint-view.js';
import { sendTestEvent, testBody } from './test-event.js';
import { createEndpoint, deleteEndpoint } from './write-endpoint.js';

/** Endpoints: where events are sent. */
export function endpointOperations(dependencies: ApiDependencies): Operation[] {
  const { database, incidents } = dependencies;
  const { endpoints } = database;

  return [
    operation('post', '/endpoints', 'createEndpoint', {
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
      location: '/endpoints/:id',
      isSecret: true,
      problems: ['invalid_request', 'insecure_target_url', 'endpoint_limit_reached', 'filter_limit_reached'],
      async handle({ account_id, body: { signature_scheme, secret, ...body } }, ctx) {
        const input = checkEndpoint(dependencies, body, await kindNames(database, account_id));
        const origin = originOf(ctx);
        const key = secret ?? newSigningSecret(signature_scheme);
        const endpoint = await createEndpoint(dependencies, account_id, input, origin, key);
        return { ...renderEndpoint(endpoint), ...renderKeys(endpoints.secretsOf(endpoint)) };
      },
    }),

    listOperation('/endpoints', 'listEndpoints', {
      summary: 'List endpoints, oldest first',
      scope: 'endpoints:read',
      parameters: endpointParameters,
      page: ['A page of endpoints', endpointWithIncidentSchema],
      async read({ account_id, query: { limit, after, status, health } }) {
        const rows = (await endpoints.all(account_id)).filter(
          ({ id, status: own, failing }) =>
            (after === undefined || id > after) &&
            (status === undefined || status.includes(own)) &&
            (health === undefined || (failing !== undefined) === (health === 'failing')),
        );
        const { data, ...page } = cutPage(rows, limit);
        return { ...page, data: await Promise.all(data.map((one) => withIncident(incidents, one))) };
      },
    }),

    operation('get', '/endpoints/:id', 'getEndpoint', {
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
      problems: ['record_altered'],
      async handle({ account_id, params: { id }, query: { as_of } }, ctx) {
        if (as_of) return endpointAt(dependencies, account_id, id, as_of);
        return withIncident(incidents, await findEndpoint(dependencies, ctx, id));
      },
    }),

    operation('delete', '/endpoints/:id', 'deleteEndpoint', {
      summary: 'Remove an endpoint; its open deliveries are cancelled before their next attempt',
      scope: 'endpoints:write',
      responses: { 204: { description: 'Removed' } },
      async handle({ account_id, params: { id } }, ctx) {
        await deleteEndpoint(dependencies, account_id, id, originOf(ctx));
      },
    }),

    operation('post', '/endpoints/:id/test', 'testEndpoint', {
      summary:
        'Send a test event, or the example of a kind, to an endpoint, whatever kinds it is registered for',
      scope: 'endpoints:write',
      body: testBody,
      bodyIsOptional: true,
      example: { event_kind: 'purchase' },
      responses: { 202: { description: 'Accepted: the delivery is persisted', schema: acceptanceSchema } },
      location: '/events/:id',
      problems: ['endpoint_state_conflict', 'unknown_event_kind', 'event_kind_conflict', 'invalid_payload'],
      async handle({ params: { id }, body: { event_kind } }, ctx) {
        const endpoint = await findEndpoint(dependencies, ctx, id);
        return sendTestEvent(dependencies, endpoint, ownerOf(ctx), event_kind);
      },
    }),
  ];
}

/** An endpoint of the caller's account. @throws Problem 404 if the account has no such endpoint */
export function findEndpoint(
  { database }: Pick<ApiDependencies, 'database'>,
  ctx: Context,
  id: string,
): Promise<StoredEndpoint> {
  const { account_id } = ctx.state.caller;
  return found('endpoint', id, () => database.endpoints.get(account_id, id));
}

/**
 * An endpoint of an account as it was at a time, also if it has been deleted since.
 *
 * @throws Problem 404 if the account had no such endpoint then, or the changes of that time are not kept any more
 */
async function endpointAt(
  { database: { changes, endpoints } }: ApiDependencies,
  accountId: string,
  id: string,
  time: Date,
): Promise<unknown> {
  if (!isId('endpoint', id)) throw notFound('endpoint', id);
  const past = await changes.stateAt(accountId, resourceName('endpoint', id), time);
  if (past.known && past.state) return past.state;
  if (past.known)
    throw new Problem('not_found', `The endpoint ${id} did not exist at ${time.toISOString()}.`);
  if (past.since) throw notKept(id, past.since.toISOString());
  const endpoint = await endpoints.getFresh(accountId, id);
  if (!endpoint) throw notFound('endpoint', id);
  if (Date.parse(endpoint.updated_at) > time.getTime()) throw notKept(id, endpoint.updated_at);
  return renderEndpoint(endpoint);
}

function notKept(id: string, since: string): Problem {
  return new Problem('not_found', `What the endpoint ${id} was before ${since} is not kept any more.`);
}
