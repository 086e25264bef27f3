import { z } from 'zod';
import { checkEventKinds, checkTargetUrl } from '../../domain/endpoint.js';
import { isId } from '../../domain/ids.js';
import { Problem } from '../../domain/problem.js';
import { isRetryWait, MAX_WAITS } from '../../domain/retry-schedule.js';
import type { EndpointInput, StoredEndpoint } from '../../models/endpoints.js';
import { invalidRequest } from '../body.js';
import type { ApiDependencies, Context } from '../context.js';
import { type Operation, operation } from '../operation.js';
import { pagingParameters, renderPage } from '../paging.js';
import {
  endpointSchema,
  endpointWithIncidentSchema,
  endpointWithSecretSchema,
  pageOf,
  secretSchema,
} from '../schemas.js';

const endpointBody = z.strictObject({
  target_url: z.string(),
  event_kinds: z.array(z.string()).min(1, 'must name at least one event kind, or * for all').max(100),
  description: z.string().max(1_000).default(''),
  status: z.enum(['active', 'paused']).default('active'),
  retry_schedule: z
    .array(z.string().refine(isRetryWait, 'must be a duration from 100ms to 7d, such as 5s, 30m or 2h'))
    .max(MAX_WAITS, `must have at most ${MAX_WAITS} waits`)
    .optional(),
});

/** Endpoints: where events are sent. */
export function endpointOperations({ settings, database, starter, incidents }: ApiDependencies): Operation[] {
  const { endpoints } = database;

  const find = async (ctx: Context, id: string): Promise<StoredEndpoint> => {
    const endpoint = isId('endpoint', id) ? await endpoints.get(ctx.state.caller.account_id, id) : undefined;
    if (!endpoint) throw missing(id);
    return endpoint;
  };

  const check = (input: EndpointInput): EndpointInput => {
    const mistake = checkTargetUrl(input.target_url, settings.HOOKLINE_ALLOW_HTTP);
    const errors = [
      ...(mistake ? [{ pointer: '/target_url', detail: mistake.detail }] : []),
      ...checkEventKinds(input.event_kinds),
    ];
    if (mistake?.insecure)
      throw new Problem('insecure_target_url', `The target URL ${mistake.detail}.`, { errors });
    if (errors.length > 0) throw invalidRequest(errors);
    return input;
  };

  return [
    operation({
      method: 'post',
      path: '/endpoints',
      id: 'createEndpoint',
      summary: 'Register an endpoint',
      scope: 'endpoints:write',
      body: endpointBody,
      responses: {
        201: { description: 'The endpoint, with its signing secret', schema: endpointWithSecretSchema },
      },
      problems: ['invalid_request', 'insecure_target_url'],
      async handle(ctx, { body }) {
        const endpoint = await endpoints.create(ctx.state.caller.account_id, check(body));
        ctx.status = 201;
        ctx.set('location', `${ctx.path}/${endpoint.id}`);
        ctx.body = { ...render(endpoint), secret: endpoint.signing_secrets[0] };
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
        const data = rest.slice(0, limit).map(render);
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
        const endpoint = await find(ctx, id);
        const { account_id } = endpoint;
        const incident = endpoint.failing && (await incidents.get({ account_id, endpoint_id: id }));
        ctx.body = { ...render(endpoint), ...(incident && { incident }) };
      },
    }),

    operation({
      method: 'get',
      path: '/endpoints/:id/secret',
      id: 'getEndpointSecret',
      summary: "Read an endpoint's signing secret",
      scope: 'secrets:read',
      responses: { 200: { description: 'The secret', schema: secretSchema } },
      problems: [],
      async handle(ctx, { params: { id = '' } }) {
        const [secret] = (await find(ctx, id)).signing_secrets;
        ctx.set('cache-control', 'no-store');
        ctx.body = { secret };
      },
    }),

    operation({
      method: 'put',
      path: '/endpoints/:id',
      id: 'replaceEndpoint',
      summary: 'Replace what the owner of an endpoint sets',
      scope: 'endpoints:write',
      body: endpointBody,
      responses: { 200: { description: 'The endpoint after it', schema: endpointSchema } },
      problems: ['invalid_request', 'insecure_target_url'],
      async handle(ctx, { params: { id = '' }, body }) {
        const before = await find(ctx, id);
        const endpoint = await endpoints.replace(before.account_id, before.id, check(body));
        if (!endpoint) throw missing(id);
        if (before.status !== 'active' && endpoint.status === 'active') {
          await starter.release({ account_id: endpoint.account_id, endpoint_id: endpoint.id });
        }
        ctx.body = render(endpoint);
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
        const { account_id } = await find(ctx, id);
        await endpoints.delete(account_id, id);
        // Parked deliveries must not wait for an endpoint that will not return.
        await starter.release({ account_id, endpoint_id: id });
        ctx.status = 204;
      },
    }),
  ];
}

function render({ signing_secrets: _, failing: __, ...endpoint }: StoredEndpoint) {
  return endpoint;
}

function missing(id: string): Problem {
  return new Problem('not_found', `There is no endpoint ${id}.`);
}
