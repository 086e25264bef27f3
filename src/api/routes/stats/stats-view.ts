import { z } from 'zod';
import { CLOSED_STATUSES, OPEN_STATUSES } from '../../../domain/delivery/delivery.js';
import { timeSchema } from '../../http/schemas.js';

const count = z.int().min(0);

const counts = <Status extends string>(statuses: readonly Status[]) =>
  z.object(Object.fromEntries(statuses.map((status) => [status, count])) as Record<Status, typeof count>);

/** A backlog, as each response shows one. */
export const backlogShape = {
  deliveries: count,
  by_status: counts(OPEN_STATUSES),
  overdue: count.describe(
    'Due for longer than an attempt can take (the time limit of a response and ten seconds), and without a result',
  ),
  oldest_created_at: timeSchema.optional().describe('When the oldest event among them was accepted'),
  overdue_since: timeSchema.optional().describe('Since when the longest overdue one has been due'),
};

const closedShape = {
  deliveries: count,
  by_status: counts(CLOSED_STATUSES),
  attempts: count.describe('Attempts that these deliveries took'),
};

const leftOut = count
  .optional()
  .describe('Endpoints that are not listed because others have more; filter by endpoint_id to see them');

/** Response of `GET /stats`. */
export const statsSchema = z
  .object({
    as_of: timeSchema.describe(
      'Time of the count of open deliveries: at most a second ago, or up to ten if counting takes long',
    ),
    open: z.object({
      ...backlogShape,
      exact: z
        .boolean()
        .describe(
          'true: every open delivery is counted; false: there are more than 20,000, and these are lower bounds',
        ),
      by_kind: z.array(z.object({ event_kind: z.string(), ...backlogShape })),
      by_endpoint: z.array(z.object({ endpoint_id: z.string(), ...backlogShape })),
      endpoints_left_out: leftOut,
      by_time: z
        .array(z.object({ from: timeSchema, ...backlogShape }))
        .describe('By the acceptance time of their events, in intervals; empty ones are left out'),
    }),
    closed: z.object({
      ...closedShape,
      exact: z
        .literal(false)
        .describe(
          'Workers write counts every five seconds. After a crash a delivery can be counted twice or not at all',
        ),
      from: timeSchema,
      to: timeSchema.describe('Not part of the period'),
      interval: z.string(),
      by_kind: z.array(z.object({ event_kind: z.string(), ...closedShape })),
      by_endpoint: z.array(z.object({ endpoint_id: z.string(), ...closedShape })),
      endpoints_left_out: leftOut,
      by_time: z
        .array(z.object({ from: timeSchema, ...closedShape }))
        .describe('By closing time, in intervals; empty ones are left out'),
    }),
  })
  .meta({ id: 'Stats' });
