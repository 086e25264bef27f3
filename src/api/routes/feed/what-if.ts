import { z } from 'zod';
import { formatDuration, parseDuration } from '../../../domain/basics/duration.js';
import { checkEventKinds } from '../../../domain/endpoint/endpoint.js';
import { filterSchema } from '../../../domain/endpoint/filter-schema.js';
import { matchesKind } from '../../../domain/event/event-kinds.js';
import { POSITION, positionsFrom } from '../../../domain/feed/feed.js';
import type { ApiDependencies } from '../../http/context.js';
import { type Operation, operation } from '../../http/operation.js';
import { invalidRequest } from '../../http/validation.js';
import { timeParameter } from '../deliveries/filters.js';
import { endpointBody } from '../endpoints/endpoint-body.js';
import { findEndpoint } from '../endpoints/endpoints.js';
import { kindNames } from '../event-kinds/find-kind.js';
import { wantedBy } from './wanted.js';

/** Events that one request reads with their payloads, and events that it names. */
const MOST = { read: 500, named: 10 };

const whatIfBody = z.strictObject({
  endpoint_id: z
    .string()
    .optional()
    .describe('What is not given is as this endpoint has it; absent: a new endpoint'),
  event_kinds: endpointBody.shape.event_kinds
    .optional()
    .describe('Absent, without an endpoint: all that are posted'),
  filter: z.union([z.null(), filterSchema]).optional().describe('null: none, whatever the endpoint has'),
  retry_schedule: endpointBody.shape.retry_schedule,
  created_after: timeParameter.unwrap().describe('Events that were accepted at this time or later'),
  created_before: timeParameter,
  after: z.string().regex(POSITION).optional().describe('Goes on where a response ended that has it'),
});

const whatIfSchema = z
  .object({
    examined: z.int().describe('Events that this response is about; with `after` there are more'),
    deliveries: z.int().describe('Those of them that the endpoint would have got'),
    gained: z
      .int()
      .describe('Deliveries that would have been made, and were not; without an endpoint all of them'),
    lost: z.int().describe('Deliveries that were made, and would not have been'),
    unreadable: z
      .int()
      .describe('Events whose payload is gone, so that nobody knows whether the filter takes them'),
    attempts_at_most: z.int().describe('If every attempt failed'),
    last_attempt_after: z.string().describe('From the first attempt to the last, by the schedule'),
    event_ids: z.array(z.string()).describe(`The first ${MOST.named} that the endpoint would have got`),
    after: z.string().optional().describe('Where the next request goes on; absent: the period is over'),
  })
  .meta({ id: 'WhatIf' });

/** Counts of the deliveries that an endpoint would have had in a period, if it had been as a caller says. */
export function whatIfOperations(dependencies: ApiDependencies): Operation[] {
  const { database, feed, settings } = dependencies;
  return [
    operation('post', '/what_if', 'whatIf', {
      summary:
        'Count the deliveries of a period that a filter, event kinds or a new endpoint would have had; nothing is sent',
      scope: 'deliveries:read',
      body: whatIfBody,
      example: {
        event_kinds: ['purchase'],
        filter: { path: '/total', at_least: 100 },
        created_after: '2026-11-21T00:00:00Z',
      },
      responses: {
        200: { description: 'The counts, of one part of the period after the other', schema: whatIfSchema },
      },
      async handle({ account_id, body }, ctx) {
        const {
          endpoint_id,
          created_after,
          created_before,
          after = positionsFrom(created_after.getTime()),
        } = body;
        const now =
          endpoint_id === undefined ? undefined : await findEndpoint(dependencies, ctx, endpoint_id);
        const event_kinds = body.event_kinds ?? now?.event_kinds ?? ['*'];
        const errors = checkEventKinds(event_kinds, await kindNames(database, account_id));
        if (errors.length > 0) throw invalidRequest(errors);
        const filter = body.filter === undefined ? now?.filter : (body.filter ?? undefined);
        const schedule =
          (body.retry_schedule ?? now?.retry_schedule)?.map(parseDuration) ??
          settings.HOOKLINE_RETRY_SCHEDULE;
        const tried = wantedBy({ event_kinds, filter });
        const all = {
          isOfKind: (kind: string) => now !== undefined || tried.isOfKind(kind),
          matches: () => true,
        };
        const { entries, examined, ...page } = await feed.page(
          account_id,
          after,
          MOST.read,
          all,
          created_before?.getTime(),
        );
        const has = { deliveries: 0, gained: 0, lost: 0, unreadable: 0 };
        const event_ids: string[] = [];
        for (const { event } of entries) {
          const isOfKind = matchesKind(event_kinds, event.event_kind);
          const would = isOfKind && tried.matches(event.payload);
          const did = endpoint_id !== undefined && event.endpoint_ids.includes(endpoint_id);
          if (isOfKind && filter !== undefined && event.payload === undefined) has.unreadable += 1;
          else if (did && !would) has.lost += 1;
          if (!would) continue;
          has.deliveries += 1;
          if (!did) has.gained += 1;
          if (event_ids.length < MOST.named) event_ids.push(event.id);
        }
        return {
          examined,
          ...has,
          attempts_at_most: has.deliveries * (schedule.length + 1),
          last_attempt_after: formatDuration(schedule.reduce((sum, wait) => sum + wait, 0)),
          event_ids,
          ...(!page.isEnd && { after: page.after }),
        };
      },
    }),
  ];
}
