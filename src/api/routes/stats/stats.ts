import { z } from 'zod';
import { Problem } from '../../../domain/http/problem.js';
import {
  type Backlog,
  BacklogCount,
  backlogBy,
  largestFirst,
  type OpenDelivery,
} from '../../../domain/stats/backlog.js';
import { type ClosedSlot, slotsOf, sumOf, sumsBy } from '../../../domain/stats/closed-count.js';
import { RESOLUTIONS, type Resolution, spansWithin } from '../../../domain/stats/tally.js';
import type { OpenAt } from '../../../temporal/read/backlog/backlog-reader.js';
import type { ApiDependencies } from '../../http/context.js';
import { type Operation, operation } from '../../http/operation.js';
import { deliveryParameters, kindParameter, timeParameter } from '../deliveries/filters.js';
import { statsSchema } from './stats-view.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Intervals that can be asked for: how long they are, from which tallies they are added up, and the longest period, milliseconds. */
const INTERVALS: Record<string, { ms: number; resolution: Resolution; longestMs: number }> = {
  '5m': { ms: RESOLUTIONS['5m'].slotMs, resolution: '5m', longestMs: DAY_MS },
  '1h': { ms: HOUR_MS, resolution: '1h', longestMs: 31 * DAY_MS },
  '1d': { ms: DAY_MS, resolution: '1h', longestMs: 31 * DAY_MS },
};
const INTERVAL_NAMES = ['5m', '1h', '1d'] as const;

/** The most endpoints in one answer. */
const MAX_ENDPOINTS = 100;

/** A period of whole intervals, milliseconds since the epoch. */
interface Period {
  from: number;
  to: number;
}

/** How many deliveries wait, and how many were closed. */
export function statsOperations({ backlog, database }: ApiDependencies): Operation[] {
  return [
    operation({
      method: 'get',
      path: '/stats',
      id: 'getStats',
      summary: 'Count deliveries: what is open now, and what was closed in a period',
      scope: 'deliveries:read',
      query: z.strictObject({
        endpoint_id: deliveryParameters.endpoint_id,
        event_kind: kindParameter,
        closed_after: timeParameter,
        closed_before: timeParameter,
        interval: z
          .enum(INTERVAL_NAMES)
          .default('1h')
          .describe('Periods are cut into these: 5m for a day at most, 1h and 1d (UTC) for 31 days'),
      }),
      responses: { 200: { description: 'The counts', schema: statsSchema } },
      problems: [],
      async handle(ctx, { query: { closed_after, closed_before, interval, ...filter } }) {
        const { account_id } = ctx.state.caller;
        const { ms, resolution } = intervalOf(interval);
        const period = periodOf(interval, closed_after, closed_before);
        const spans = spansWithin(resolution, period.from, period.to - 1);
        const [open, rows] = await Promise.all([
          backlog.read({ account_id, ...filter }),
          database.tallies.read(account_id, { resolution, spans, ...filter }),
        ]);
        ctx.body = {
          as_of: iso(open.at),
          open: viewOpen(open, ms),
          closed: viewClosed(slotsOf(rows, period.from, period.to), { ...period, interval, ms }),
        };
      },
    }),
  ];
}

function intervalOf(name: string) {
  const interval = INTERVALS[name];
  if (!interval) throw new RangeError(`not an interval: ${name}`);
  return interval;
}

/** The whole intervals that contain a period; by default the last day. @throws Problem if it is empty or too long */
function periodOf(interval: string, after: Date | undefined, before: Date | undefined): Period {
  const { ms, longestMs } = intervalOf(interval);
  const end = before?.getTime() ?? Date.now();
  const begin = after?.getTime() ?? end - DAY_MS;
  const from = Math.floor(begin / ms) * ms;
  const to = Math.ceil(end / ms) * ms;
  const refuse = (detail: string) => {
    throw new Problem('invalid_request', `The request is not valid: closed_after ${detail}.`, {
      errors: [{ parameter: 'closed_after', detail }],
    });
  };
  if (to <= from) refuse('must be earlier than closed_before');
  // A period that does not begin with an interval touches one more.
  if (to - from > longestMs + ms) refuse(`must be at most ${longestMs / DAY_MS} days before closed_before`);
  return { from, to };
}

function viewOpen({ deliveries, isComplete, overdueBefore }: OpenAt, ms: number) {
  const total = new BacklogCount(overdueBefore);
  for (const delivery of deliveries) total.add(delivery);
  const by = (keyOf: (delivery: OpenDelivery) => string) => backlogBy(deliveries, overdueBefore, keyOf);
  const endpoints = by(({ endpoint_id }) => endpoint_id);
  const times = by(({ createdAt }) => iso(Math.floor(createdAt / ms) * ms));
  return {
    ...total.result,
    exact: isComplete,
    by_kind: by(({ event_kind }) => event_kind).map(([event_kind, count]) => ({ event_kind, ...count })),
    by_endpoint: endpoints.slice(0, MAX_ENDPOINTS).map(([endpoint_id, count]) => ({ endpoint_id, ...count })),
    ...leftOut(endpoints),
    by_time: inOrder(times.map(([from, count]): { from: string } & Backlog => ({ from, ...count }))),
  };
}

function viewClosed(
  slots: readonly ClosedSlot[],
  { from, to, interval, ms }: Period & { interval: string; ms: number },
) {
  const endpoints = sumsBy(slots, ({ endpoint_id }) => endpoint_id).sort(largestFirst);
  const kinds = sumsBy(slots, ({ event_kind }) => event_kind).sort(largestFirst);
  const times = sumsBy(slots, ({ at }) => iso(Math.floor(at / ms) * ms));
  return {
    ...sumOf(slots),
    exact: false,
    from: iso(from),
    to: iso(to),
    interval,
    by_kind: kinds.map(([event_kind, count]) => ({ event_kind, ...count })),
    by_endpoint: endpoints.slice(0, MAX_ENDPOINTS).map(([endpoint_id, count]) => ({ endpoint_id, ...count })),
    ...leftOut(endpoints),
    by_time: inOrder(times.map(([start, count]) => ({ from: start, ...count }))),
  };
}

function leftOut(endpoints: readonly unknown[]) {
  return endpoints.length > MAX_ENDPOINTS && { endpoints_left_out: endpoints.length - MAX_ENDPOINTS };
}

function inOrder<T extends { from: string }>(rows: T[]): T[] {
  return rows.sort((one, other) => (one.from < other.from ? -1 : 1));
}

function iso(at: number): string {
  return new Date(at).toISOString();
}
