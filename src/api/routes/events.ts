import type Router from '@koa/router';
import { z } from 'zod';
import { deliveryId, isId } from '../../domain/ids.js';
import { MAX_PAYLOAD_BYTES } from '../../domain/payload.js';
import { Problem } from '../../domain/problem.js';
import { MAX_DIRECT_DELIVERIES } from '../../temporal/delivery-starter.js';
import { type Acceptance, acceptEvent } from '../accept-event.js';
import { invalidRequest, readJsonBytes, readQuery } from '../body.js';
import type { ApiDependencies, Context, State } from '../context.js';
import { requireScope } from '../middleware/authenticate.js';
import { pagingParameters, renderPage } from '../paging.js';

const listParameters = z.strictObject({
  ...pagingParameters,
  kind: z.string().max(256).optional(),
  created_after: z.iso
    .datetime()
    .transform((text) => new Date(text))
    .optional(),
  created_before: z.iso
    .datetime()
    .transform((text) => new Date(text))
    .optional(),
});

/** Events: what producers send. */
export function eventRoutes(router: Router<State>, dependencies: ApiDependencies): void {
  router.post('/events/:kind', requireScope('events:write'), async (ctx) => {
    const kind = ctx.params['kind'] ?? '';
    const body = await readJsonBytes(ctx, MAX_PAYLOAD_BYTES);
    const acceptance = await acceptEvent(
      dependencies,
      ctx.state.caller.account_id,
      kind,
      body,
      readIdempotencyKey(ctx),
    );
    ctx.status = 202;
    ctx.set('location', `${ctx.path.slice(0, -kind.length)}${acceptance.event_id}`);
    ctx.body = renderAcceptance(kind, acceptance);
  });

  router.get('/events', requireScope('deliveries:read'), async (ctx) => {
    const { limit, after, ...filter } = readQuery(ctx, listParameters);
    ctx.body = renderPage(
      ctx,
      await dependencies.events.list(ctx.state.caller.account_id, filter, limit, after),
    );
  });

  router.get('/events/:id', requireScope('deliveries:read'), async (ctx) => {
    const id = ctx.params['id'] ?? '';
    const accountId = ctx.state.caller.account_id;
    const endpoints = await dependencies.database.endpoints.all(accountId);
    const event = isId('event', id)
      ? await dependencies.events.get(
          accountId,
          id,
          endpoints.map((endpoint) => endpoint.id),
        )
      : undefined;
    if (!event) throw new Problem('not_found', `There is no event ${id}.`);
    const { payload, deliveries, ...summary } = event;
    // The payload is put in as it was received: parsing it would change numbers that JavaScript cannot hold.
    const rest = JSON.stringify({ ...summary, deliveries: deliveries.data });
    ctx.type = 'application/json';
    ctx.body = `${rest.slice(0, -1)},"payload":${payload}}`;
  });
}

function renderAcceptance(kind: string, { event_id, accepted_at, targets }: Acceptance) {
  const listed = targets.length <= MAX_DIRECT_DELIVERIES;
  return {
    id: event_id,
    kind,
    created_at: accepted_at,
    delivery_count: targets.length,
    ...(listed && {
      deliveries: targets.map(({ endpoint_id }) => ({
        id: deliveryId({ event_id, endpoint_id }),
        endpoint_id,
      })),
    }),
  };
}

function readIdempotencyKey(ctx: Context): string | undefined {
  if (ctx.req.headers['idempotency-key'] === undefined) return undefined;
  const key = ctx.get('idempotency-key');
  if (!/^[\x21-\x7e]{1,255}$/.test(key)) {
    throw invalidRequest([
      { parameter: 'Idempotency-Key', detail: 'must be 1 to 255 visible ASCII characters, without spaces' },
    ]);
  }
  return key;
}
