import { type DeliveryKey, parseDeliveryId } from '../../../domain/basics/delivery-id.js';
import { type ChangeAction, resourceName } from '../../../domain/change/change.js';
import { toTarget } from '../../../domain/delivery/recipients.js';
import { timelineText } from '../../../domain/explain/timeline.js';
import { notFound, Problem } from '../../../domain/http/problem.js';
import { hostOf } from '../../../domain/ledger/summaries.js';
import { withoutFacts } from '../../../domain/view/delivery-view.js';
import type { ApiDependencies, Context } from '../../http/context.js';
import { ledgerPage } from '../../http/ledger-paging.js';
import { type Operation, operation } from '../../http/operation.js';
import { actBody, recordedAct } from '../../http/origin.js';
import { listOperation } from '../../http/paging.js';
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

/** Actions on an open delivery, and the records of them. */
const ACTS = [
  ['retry', 'retried', 'Make an attempt now'],
  ['cancel', 'cancelled', 'Cancel an open delivery'],
  ['pause', 'paused', 'Make no attempt until the delivery is resumed'],
  ['resume', 'resumed', 'End a pause'],
] as const;

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
    listOperation('/deliveries', 'listDeliveries', {
      summary: 'List deliveries, each in its newest run: open ones first, then the latest closed',
      scope: 'deliveries:read',
      parameters: {
        event_kind: kindParameter,
        ...deliveryParameters,
        ...attemptParameters,
        include: includeParameter,
      },
      page: [
        'A page of deliveries. A delivery that closes between two pages is on both. A page can have fewer rows than its limit: only a page without next is the last',
        listedDeliverySchema,
      ],
      problems: ['record_altered'],
      async read({ account_id, query: { limit, after, include, ...parameters } }) {
        const any_attempt = readAttemptFilter(parameters);
        const filter = { ...(await readFilter(database, account_id, parameters)), any_attempt };
        return ledgerPage(database, 'deliveries', account_id, after, async (from) => {
          const { data, ...rest } = await deliveries.list(account_id, filter, limit, from, include);
          return { ...rest, data: await withBusinessKeys(database, data, () => account_id) };
        });
      },
    }),

    operation('get', '/deliveries/:id', 'getDelivery', {
      summary: 'Read a delivery with its attempts',
      scope: 'deliveries:read',
      responses: { 200: { description: 'The delivery', schema: deliverySchema } },
      problems: ['record_altered'],
      async handle({ account_id, params: { id } }) {
        return withoutFacts(await find(account_id, id));
      },
    }),

    operation('get', '/deliveries/:id/timeline', 'getDeliveryTimeline', {
      summary: 'Read everything that happened to a delivery, in order and over all its runs',
      scope: 'deliveries:read',
      responses: {
        200: { description: 'Timeline of the delivery', schema: timelineSchema, text: 'A line for each' },
      },
      problems: ['record_altered'],
      async handle({ account_id, params: { id } }, ctx) {
        const items = await deliveries.timeline(account_id, readKey(id));
        if (!items) throw notFound('delivery', id);
        ctx.vary('Accept');
        const isText = ctx.accepts('application/json', 'text/plain') === 'text/plain';
        return isText ? timelineText(items) : { data: items };
      },
    }),

    ...ACTS.map(([action, done, summary]) =>
      operation('post', `/deliveries/:id/${action}`, `${action}Delivery`, {
        summary,
        scope: 'deliveries:write',
        body: actBody,
        bodyIsOptional: true,
        responses: { 200: { description: 'The delivery after the action', schema: deliveryRecordSchema } },
        problems: ['delivery_state_conflict'],
        async handle({ account_id, params: { id }, body: { reason } }, ctx) {
          const { id: by } = ctx.state.caller;
          const key = readKey(id);
          const record = await recorded(ctx, done, id, reason, (name) =>
            control.act(action, account_id, key, { by }, name),
          );
          if (!record) {
            const { status } = await find(account_id, id);
            throw new Problem('delivery_state_conflict', `The delivery is closed: ${status}.`);
          }
          const after = await find(account_id, id);
          const { status, attempts, next_attempt_at, closed_at, interventions } = after;
          return { id, status, attempts, next_attempt_at, reason: after.reason, closed_at, interventions };
        },
      }),
    ),

    operation('post', '/deliveries/:id/resend', 'resendDelivery', {
      summary: 'Send a closed delivery again: same payload, same webhook-id, a new run',
      scope: 'deliveries:write',
      body: actBody,
      bodyIsOptional: true,
      responses: { 202: { description: 'The new run is persisted', schema: resendSchema } },
      location: '/deliveries/:id',
      problems: ['delivery_state_conflict', 'record_altered'],
      async handle({ account_id, params: { id }, body: { reason } }, ctx) {
        const { id: by } = ctx.state.caller;
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
            { by, act, ...ctx.state.trace },
          ),
        );
        if (run_id === undefined) throw notFound('delivery', id);
        return { id, run_id };
      },
    }),
  ];
}

function readKey(id: string): DeliveryKey {
  const key = parseDeliveryId(id);
  if (!key) throw notFound('delivery', id);
  return key;
}
