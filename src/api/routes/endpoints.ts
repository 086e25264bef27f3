import type Router from '@koa/router';
import { z } from 'zod';
import { checkEventKinds, checkTargetUrl } from '../../domain/endpoint.js';
import { isId } from '../../domain/ids.js';
import { Problem } from '../../domain/problem.js';
import { isRetryWait, MAX_WAITS } from '../../domain/retry-schedule.js';
import type { EndpointInput, StoredEndpoint } from '../../models/endpoints.js';
import { invalidRequest, readBody, readQuery } from '../body.js';
import type { ApiDependencies, Context, State } from '../context.js';
import { requireScope } from '../middleware/authenticate.js';
import { pagingParameters, renderPage } from '../paging.js';

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
export function endpointRoutes(
  router: Router<State>,
  { settings, database, starter }: ApiDependencies,
): void {
  const { endpoints } = database;

  router.post('/endpoints', requireScope('endpoints:write'), async (ctx) => {
    const endpoint = await endpoints.create(ctx.state.caller.account_id, await readInput(ctx));
    ctx.status = 201;
    ctx.set('location', `${ctx.path}/${endpoint.id}`);
    ctx.body = { ...render(endpoint), secret: endpoint.signing_secrets[0] };
  });

  router.get('/endpoints', requireScope('endpoints:read'), async (ctx) => {
    const { limit, after } = readQuery(ctx, z.strictObject(pagingParameters));
    const all = await endpoints.all(ctx.state.caller.account_id);
    const rest = all.filter((endpoint) => after === undefined || endpoint.id > after);
    const data = rest.slice(0, limit).map(render);
    ctx.body = renderPage(ctx, { data, ...(rest.length > limit && { after: data.at(-1)?.id }) });
  });

  router.get('/endpoints/:id', requireScope('endpoints:read'), async (ctx) => {
    ctx.body = render(await find(ctx));
  });

  router.get('/endpoints/:id/secret', requireScope('secrets:read'), async (ctx) => {
    const [secret] = (await find(ctx)).signing_secrets;
    ctx.set('cache-control', 'no-store');
    ctx.body = { secret };
  });

  router.put('/endpoints/:id', requireScope('endpoints:write'), async (ctx) => {
    const before = await find(ctx);
    const endpoint = await endpoints.replace(before.account_id, before.id, await readInput(ctx));
    if (!endpoint) throw missing(ctx);
    if (before.status !== 'active' && endpoint.status === 'active') {
      await starter.release({ account_id: endpoint.account_id, endpoint_id: endpoint.id });
    }
    ctx.body = render(endpoint);
  });

  router.delete('/endpoints/:id', requireScope('endpoints:write'), async (ctx) => {
    const { account_id, id } = await find(ctx);
    await endpoints.delete(account_id, id);
    // Parked deliveries must not wait for an endpoint that will not return.
    await starter.release({ account_id, endpoint_id: id });
    ctx.status = 204;
  });

  const find = async (ctx: Context): Promise<StoredEndpoint> => {
    const id = ctx.params?.['id'] ?? '';
    const endpoint = isId('endpoint', id) ? await endpoints.get(ctx.state.caller.account_id, id) : undefined;
    if (!endpoint) throw missing(ctx);
    return endpoint;
  };

  const readInput = async (ctx: Context): Promise<EndpointInput> => {
    const input = await readBody(ctx, endpointBody);
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
}

function render({ signing_secrets: _, ...endpoint }: StoredEndpoint) {
  return endpoint;
}

function missing(ctx: Context): Problem {
  return new Problem('not_found', `There is no endpoint ${ctx.params?.['id']}.`);
}
