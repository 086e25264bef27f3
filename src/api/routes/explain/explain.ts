import { z } from 'zod';
import { valuesOf } from '../../../../packages/payload-contract/src/index.js';
import type { DeliveryKey } from '../../../domain/basics/delivery-id.js';
import { createdAt } from '../../../domain/basics/id-time.js';
import { isId } from '../../../domain/basics/ids.js';
import { isClosed } from '../../../domain/delivery/delivery.js';
import type { BusinessKey } from '../../../domain/event/business-keys.js';
import {
  explainAbsence,
  explainScheduled,
  explainStarting,
  STARTED_IF_TEMPORAL_KNOWS,
} from '../../../domain/explain/explain-absence.js';
import { explainDelivery } from '../../../domain/explain/explain-delivery.js';
import { explainFailing } from '../../../domain/explain/failing-task.js';
import { VERDICT_CODES } from '../../../domain/explain/verdict.js';
import { sharedNow } from '../../../domain/time/shared-time.js';
import type { Delivery } from '../../../domain/view/delivery-view.js';
import type { ApiDependencies } from '../../http/context.js';
import { type Operation, operation } from '../../http/operation.js';
import { timeSchema as time } from '../../http/schemas.js';
import { invalidRequest } from '../../http/validation.js';
import { attemptSchema, deliverySummarySchema } from '../deliveries/delivery-view.js';
import { deliveryParameters, kindParameter } from '../deliveries/filters.js';
import { eventSummarySchema } from '../events/event-view.js';
import { deletionOf, endpointFacts, endpointNow } from './endpoint-facts.js';

export const verdictSchema = z
  .object({
    code: z.enum(VERDICT_CODES).describe('Stable: depend on it'),
    summary: z.string().describe('Human-readable, with the evidence'),
    since: time.optional(),
    by: z
      .string()
      .optional()
      .describe('Author: the id of an API key or OAuth client, operator, subscriber or a part of Hookline'),
    next_attempt_at: time.optional(),
    clauses: z
      .array(
        z.object({
          clause: z.string().describe('JSON Pointer into the filter as it was'),
          path: z.string().optional().describe('JSON Pointer into the payload'),
          condition: z.record(z.string(), z.unknown()),
          found: z
            .union([z.string(), z.number(), z.boolean(), z.null()])
            .optional()
            .describe('Absent if the payload has nothing there, or no scalar'),
        }),
      )
      .optional()
      .describe('The parts of the filter that the payload did not meet'),
    endpoint_id: z.string(),
    event: eventSummarySchema.optional().describe('Absent if there is no such event'),
    delivery: deliverySummarySchema
      .pick({ id: true, status: true, next_attempt_at: true, closed_at: true })
      .extend({
        attempts: z.int().describe('How many have been made'),
        last_attempt: attemptSchema.optional(),
      })
      .optional()
      .describe('Absent if there is none'),
    other_events: z
      .array(z.string())
      .optional()
      .describe('Events with the same key, newest first, at most 10; the verdict is about the newest of all'),
  })
  .meta({
    id: 'Verdict',
    examples: [
      {
        code: 'filter_not_met',
        summary:
          "The payload did not meet the endpoint's filter as it was when the event was accepted: /total at_least 100.",
        clauses: [{ clause: '', path: '/total', condition: { path: '/total', at_least: 100 }, found: 12.5 }],
        endpoint_id: 'ep_01M7Y2TZZ9K3C5R4Q0V8W1XHPN',
        event: {
          id: 'evt_01M7Y2V07RS2Y47QBBGSV7HTCR',
          kind: 'purchase',
          created_at: '2026-11-21T12:00:00.000Z',
        },
      },
    ],
  });

/** Why an endpoint got an event, has not got it yet, or never will. */
export function explainOperations(dependencies: ApiDependencies): Operation[] {
  return [
    operation('get', '/explain', 'explain', {
      summary: 'Explain why an endpoint got an event, waits for it, or did not get it',
      scope: 'deliveries:read',
      query: z.strictObject({
        endpoint_id: deliveryParameters.endpoint_id.unwrap(),
        event_id: z
          .string()
          .regex(/^(evt|sch)_[0-9A-Z]{26}$/, 'must be the id of an event, such as evt_01JD8F…')
          .optional()
          .describe('Id of an event or of a scheduled event'),
        key: deliveryParameters.key,
        event_kind: kindParameter.describe('With key: only events of this kind'),
      }),
      responses: {
        200: {
          description: 'One verdict; also if the event or the endpoint is unknown',
          schema: verdictSchema,
        },
      },
      problems: ['invalid_request', 'record_altered'],
      async handle({ account_id, query: { endpoint_id, event_id, key, event_kind } }) {
        if ((event_id === undefined) === (key === undefined))
          throw invalidRequest([
            { parameter: 'event_id', detail: 'or key must name the event: send one of the two' },
          ]);
        const ids = key ? await findByKey(dependencies, account_id, key, event_kind) : [event_id ?? ''];
        const [newest, ...others] = ids;
        return {
          ...(await explain(dependencies, account_id, endpoint_id, newest)),
          ...(others.length > 0 && { other_events: others.slice(0, 10) }),
        };
      },
    }),
  ];
}

/** The ids of the events with a key, of a hundred at most, newest first. */
async function findByKey(
  { database, events }: ApiDependencies,
  accountId: string,
  key: BusinessKey,
  event_kind: string | undefined,
): Promise<string[]> {
  const [key_token] = await database.keySecrets.tokensOf(accountId, [key]);
  const { data } = await events.list(accountId, { key_token, event_kind }, 100);
  return data
    .map(({ id }) => id)
    .sort()
    .reverse();
}

/** Why an endpoint got an event, waits for it, or did not get it. */
export async function explain(
  dependencies: ApiDependencies,
  accountId: string,
  endpoint_id: string,
  event_id: string | undefined,
) {
  if (event_id === undefined) return { ...explainAbsence(undefined, undefined), endpoint_id };
  if (isId('scheduled_event', event_id)) {
    const scheduled = await dependencies.database.scheduled.get(accountId, event_id);
    if (scheduled && !scheduled.expires_at)
      return { ...explainScheduled(scheduled.due_at.toISOString()), endpoint_id };
    return explain(dependencies, accountId, endpoint_id, scheduled?.event_id ?? undefined);
  }
  return explainOne(dependencies, accountId, { event_id, endpoint_id });
}

async function explainOne(
  dependencies: ApiDependencies,
  accountId: string,
  { event_id, endpoint_id }: DeliveryKey,
) {
  const delivery = await dependencies.deliveries.get(accountId, { event_id, endpoint_id });
  if (delivery?.run_id) return explainFound(dependencies, accountId, delivery);
  const event = await dependencies.events.get(accountId, event_id);
  const about = {
    endpoint_id,
    ...(event && { event: { id: event.id, kind: event.kind, created_at: event.created_at } }),
  };
  if (delivery) {
    const [fanOut, found] = await Promise.all([
      dependencies.events.fanOut(accountId, event_id),
      explainFound(dependencies, accountId, delivery),
    ]);
    if (fanOut === 'away') return { ...STARTED_IF_TEMPORAL_KNOWS, ...about };
    if (!fanOut) return found;
    const { failing_task } = fanOut;
    const verdict = failing_task ? explainFailing(failing_task, 'fan_out') : explainStarting(fanOut);
    return { ...verdict, ...about };
  }
  const endpoint = await endpointFacts(dependencies, accountId, endpoint_id, createdAt(event_id));
  const { payload } = event ?? {};
  const explained = event && { ...event, payload: payload === undefined ? undefined : valuesOf(payload) };
  return { ...explainAbsence(explained, endpoint), ...about };
}

async function explainFound(dependencies: ApiDependencies, accountId: string, delivery: Delivery) {
  const { id, event_id, endpoint_id, event_kind: kind, created_at, status, attempts } = delivery;
  const execution = { workflowId: delivery.workflow_id, runId: delivery.run_id };
  const { records } = dependencies.database;
  const [endpoint, deleted, failing_task, event] = await Promise.all([
    endpointNow(dependencies, accountId, endpoint_id),
    deletionOf(dependencies, accountId, endpoint_id),
    isClosed(status) ? undefined : dependencies.deliveries.failingTask(execution),
    isClosed(status) ? undefined : records.eventsOf(accountId, [event_id]),
  ]);
  const event_altered = event?.get(event_id)?.altered?.message;
  const { next_attempt_at, closed_at } = delivery;
  return {
    ...explainDelivery({ ...delivery, failing_task, event_altered }, endpoint, deleted, sharedNow()),
    endpoint_id,
    event: { id: event_id, kind, created_at },
    delivery: {
      id,
      status,
      next_attempt_at,
      closed_at,
      attempts: attempts.length,
      last_attempt: attempts.at(-1),
    },
  };
}
