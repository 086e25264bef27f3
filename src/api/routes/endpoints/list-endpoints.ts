import { z } from 'zod';
import { isId } from '../../../domain/basics/ids.js';
import { ENDPOINT_STATUSES } from '../../../domain/endpoint/endpoint.js';
import type { ApiDependencies } from '../../http/context.js';
import { listParameter } from '../../http/list-parameter.js';
import { type Operation, operation } from '../../http/operation.js';
import { pagingParameters, renderPage } from '../../http/paging.js';
import { pageOf } from '../../http/schemas.js';
import { endpointWithIncidentSchema, renderEndpoint } from './endpoint-view.js';

const cursor = z
  .string()
  .refine((text) => isId('endpoint', text), 'must be a cursor of this list, as an earlier page gave it');

/** The list of endpoints. */
export function listEndpointsOperation({
  database: { endpoints },
  incidents,
}: Pick<ApiDependencies, 'database' | 'incidents'>): Operation {
  return operation({
    method: 'get',
    path: '/endpoints',
    id: 'listEndpoints',
    summary: 'List endpoints, oldest first',
    scope: 'endpoints:read',
    query: z.strictObject({
      ...pagingParameters,
      after: cursor.optional(),
      status: listParameter(ENDPOINT_STATUSES, 'One of these statuses, separated by commas'),
      health: z
        .enum(['healthy', 'failing'])
        .optional()
        .meta({ description: 'failing: it has an open incident' }),
    }),
    responses: {
      200: { description: 'A page of endpoints', schema: pageOf(endpointWithIncidentSchema) },
    },
    problems: [],
    async handle(ctx, { query: { limit, after, status, health } }) {
      const { account_id } = ctx.state.caller;
      const rest = (await endpoints.all(account_id)).filter(
        (endpoint) =>
          (after === undefined || endpoint.id > after) &&
          (status === undefined || status.includes(endpoint.status)) &&
          (health === undefined || (endpoint.failing !== undefined) === (health === 'failing')),
      );
      const data = await Promise.all(
        rest.slice(0, limit).map(async (endpoint) => {
          const key = { account_id, endpoint_id: endpoint.id };
          const incident = endpoint.failing && (await incidents.get(key));
          return { ...renderEndpoint(endpoint), ...(incident && { incident }) };
        }),
      );
      ctx.body = renderPage(ctx, { data, ...(rest.length > limit && { after: data.at(-1)?.id }) });
    },
  });
}
