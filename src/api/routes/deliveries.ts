import type Router from '@koa/router';
import { z } from 'zod';
import { DELIVERY_STATUSES, type Intervention } from '../../domain/delivery.js';
import { type DeliveryKey, isId, parseDeliveryId } from '../../domain/ids.js';
import { Problem } from '../../domain/problem.js';
import { readQuery } from '../body.js';
import type { ApiDependencies, Context, State } from '../context.js';
import { requireScope } from '../middleware/authenticate.js';
import { pagingParameters, renderPage } from '../paging.js';

const listParameters = z.strictObject({
  ...pagingParameters,
  endpoint_id: z
    .string()
    .refine((text) => isId('endpoint', text), 'must be the id of an endpoint')
    .optional(),
  event_id: z
    .string()
    .refine((text) => isId('event', text), 'must be the id of an event')
    .optional(),
  event_kind: z.string().max(256).optional(),
  status: z.enum(DELIVERY_STATUSES).optional(),
  created_after: z.iso
    .datetime()
    .transform((text) => new Date(text))
    .optional(),
  created_before: z.iso
    .datetime()
    .transform((text) => new Date(text))
    .optional(),
});

/** Deliveries: what became of events. They are read from Temporal, and steered there. */
export function deliveryRoutes(router: Router<State>, { deliveries, control }: ApiDependencies): void {
  router.get('/deliveries', requireScope('deliveries:read'), async (ctx) => {
    const { limit, after, ...filter } = readQuery(ctx, listParameters);
    ctx.body = renderPage(ctx, await deliveries.list(ctx.state.caller.account_id, filter, limit, after));
  });

  router.get('/deliveries/:id', requireScope('deliveries:read'), async (ctx) => {
    ctx.body = await find(ctx);
  });

  for (const action of ['retry', 'cancel', 'pause', 'resume'] as const satisfies Intervention['action'][]) {
    router.post(`/deliveries/:id/${action}`, requireScope('deliveries:write'), async (ctx) => {
      const { account_id, id: by } = ctx.state.caller;
      const record = await control.act(action, account_id, readKey(ctx), by);
      if (!record) {
        const { status } = await find(ctx);
        throw new Problem('delivery_state_conflict', `The delivery is closed: ${status}.`);
      }
      ctx.body = { id: ctx.params?.['id'], ...record };
    });
  }

  const find = async (ctx: Context) => {
    const delivery = await deliveries.get(ctx.state.caller.account_id, readKey(ctx));
    if (!delivery) throw missing(ctx);
    return delivery;
  };
}

function readKey(ctx: Context): DeliveryKey {
  const key = parseDeliveryId(ctx.params?.['id'] ?? '');
  if (!key) throw missing(ctx);
  return key;
}

function missing(ctx: Context): Problem {
  return new Problem('not_found', `There is no delivery ${ctx.params?.['id']}.`);
}
