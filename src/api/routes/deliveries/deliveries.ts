import { z } from 'zod';
import { type DeliveryKey, parseDeliveryId } from '../../../domain/basics/delivery-id.js';
import { type ChangeAction, resourceName } from '../../../domain/change/change.js';
import { shownRecord } from '../../../domain/delivery/delivery.js';
import { toTarget } from '../../../domain/delivery/recipients.js';
import { timelineText } from '../../../domain/explain/timeline.js';
import { notFound, Problem } from '../../../domain/http/problem.js';
import { hostOf } from '../../../domain/ledger/summaries.js';
import { withoutFacts } from '../../../temporal/read/delivery-view.js';
import type { ApiDependencies, Context } from '../../http/context.js';
import { renderLedgerPage } from '../../http/ledger-paging.js';
import { type Operation, operation, pathTo } from '../../http/operation.js';
import { actBody, recordedAct } from '../../http/origin.js';
import { pagingParameters } from '../../http/paging.js';
import { pageOf } from '../../http/schemas.js';
import {
  deliveryRecordSchema,
  deliverySchema,
  listedDeliverySchema,
  resendSchema,
  timelineSchema,
} from './delivery-view.js';
import {
  attemptParameters,
  deliveryParameters,
  kindParameter,
  readAttemptFilter,
  readFilter,
} from './filters.js';
import { includeParameter, withBusinessKeys } from './row-extras.js';

const ACTIONS = {
  retry: 'Make an attempt now',
  cancel: 'Cancel an open delivery',
  pause: 'Make no attempt until the delivery is resumed',
  resume: 'End a pause',
} as const;

/** What is recorded of them. */
const DONE = { retry: 'retried', cancel: 'cancelled', pause: 'paused', resume: 'resumed' } as const;

/** Deliveries: what became of events. They are read from Temporal, and steered there. */
export function deliveryOperations({ database, deliveries, control }: ApiDependencies): Operation[] {
  const recorded = <T>(
    ctx: Context,
    action: ChangeAction,
    id: string,
    reason: string | undefined,
    act: (name: string) => Promise<T | undefined>,
  ) => {
    const change = { resource: resourceName('delivery', id), action, reason };
    const isThere = async () =>
      (await deliveries.get(ctx.state.caller.account_id, readKey(id))) !== undefined;
    return recordedAct(database.changes, ctx, change, act, isThere);
  };

  const find = async (accountId: string, id: string) => {
    const delivery = await deliveries.get(accountId, readKey(id));
    if (!delivery) throw notFound('delivery', id);
    return delivery;
  };

  return [
    operation({
      method: 'get',
      path: '/deliveries',
      id: 'listDeliveries',
      summary: 'List deliveries, each in its newest run: open ones first, then the latest closed',
      scope: 'deliveries:read',
      query: z.strictObject({
        ...pagingParameters,
        event_kind: kindParameter,
        ...deliveryParameters,
        ...attemptParameters,
        include: includeParameter,
      }),
      responses: {
        200: {
          description:
            'A page of deliveries. A delivery that closes between two pages is on both. A page can have fewer rows than its limit: only a page without next is the last',
          schema: pageOf(listedDeliverySchema),
        },
      },
      problems: ['record_altered'],
      async handle(ctx, { query: { limit, after, include, ...parameters } }) {
        const { account_id } = ctx.state.caller;
        const any_attempt = readAttemptFilter(parameters);
        const filter = { ...(await readFilter(database, account_id, parameters)), any_attempt };
        ctx.body = await renderLedgerPage(ctx, database, 'deliveries', after, async (from) => {
          const { data, ...rest } = await deliveries.list(account_id, filter, limit, from, include);
          return { ...rest, data: await withBusinessKeys(database, data, () => account_id) };
        });
      },
    }),

    operation({
      method: 'get',
      path: '/deliveries/:id',
      id: 'getDelivery',
      summary: 'Read a delivery with its attempts',
      scope: 'deliveries:read',
      responses: { 200: { description: 'The delivery', schema: deliverySchema } },
      problems: ['record_altered'],
      async handle(ctx, { params: { id = '' } }) {
        ctx.body = withoutFacts(await find(ctx.state.caller.account_id, id));
      },
    }),

    operation({
      method: 'get',
      path: '/deliveries/:id/timeline',
      id: 'getDeliveryTimeline',
      summary: 'Read everything that happened to a delivery, in order and over all its runs',
      scope: 'deliveries:read',
      responses: {
        200: { description: 'What happened', schema: timelineSchema, text: 'A line for each' },
      },
      problems: ['record_altered'],
      async handle(ctx, { params: { id = '' } }) {
        const items = await deliveries.timeline(ctx.state.caller.account_id, readKey(id));
        if (!items) throw notFound('delivery', id);
        ctx.vary('Accept');
        ctx.body =
          ctx.accepts('application/json', 'text/plain') === 'text/plain'
            ? timelineText(items)
            : { data: items };
      },
    }),

    ...(['retry', 'cancel', 'pause', 'resume'] as const).map((action) =>
      operation({
        method: 'post',
        path: `/deliveries/:id/${action}`,
        id: `${action}Delivery`,
        summary: ACTIONS[action],
        scope: 'deliveries:write',
        body: actBody,
        bodyIsOptional: true,
        responses: { 200: { description: 'The delivery after the action', schema: deliveryRecordSchema } },
        problems: ['delivery_state_conflict'],
        async handle(ctx, { params: { id = '' }, body: { reason } }) {
          const { account_id, id: by } = ctx.state.caller;
          const key = readKey(id);
          const record = await recorded(ctx, DONE[action], id, reason, (name) =>
            control.act(action, account_id, key, { by }, name),
          );
          if (!record) {
            const { status } = await find(account_id, id);
            throw new Problem('delivery_state_conflict', `The delivery is closed: ${status}.`);
          }
          const attempts = await deliveries.attempts(account_id, key, record.attempts);
          ctx.body = { id, ...withoutFacts(shownRecord(record)), attempts };
        },
      }),
    ),

    operation({
      method: 'post',
      path: '/deliveries/:id/resend',
      id: 'resendDelivery',
      summary: 'Send a closed delivery again: same payload, same webhook-id, a new run',
      scope: 'deliveries:write',
      body: actBody,
      bodyIsOptional: true,
      responses: { 202: { description: 'The new run is persisted', schema: resendSchema } },
      problems: ['delivery_state_conflict', 'record_altered'],
      async handle(ctx, { params: { id = '' }, body: { reason } }) {
        const { account_id, id: by } = ctx.state.caller;
        const key = readKey(id);
        const endpoint = await database.endpoints.get(account_id, key.endpoint_id);
        if (!endpoint) {
          await find(account_id, id);
          throw new Problem(
            'delivery_state_conflict',
            'The endpoint was deleted, so nothing can be sent to it.',
          );
        }
        const run_id = await recorded(ctx, 'resent', id, reason, (act) =>
          control.resend(
            account_id,
            key,
            { ...toTarget(endpoint), host: hostOf(endpoint.target_url) },
            { by, act, traceparent: ctx.state.traceparent },
          ),
        );
        if (run_id === undefined) throw notFound('delivery', id);
        ctx.status = 202;
        ctx.set('location', pathTo(ctx, '/deliveries/:id'));
        ctx.body = { id, run_id };
      },
    }),
  ];
}

function readKey(id: string): DeliveryKey {
  const key = parseDeliveryId(id);
  if (!key) throw notFound('delivery', id);
  return key;
}
