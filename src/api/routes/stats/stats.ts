import { z } from 'zod';
import { UNITS } from '../../../domain/basics/duration.js';
import {
  type Backlog,
  backlogBy,
  backlogOf,
  largestFirst,
  type OpenDelivery,
} from '../../../domain/stats/backlog.js';
import { type ClosedSlot, slotsOf, sumOf, sumsBy } from '../../../domain/stats/closed-count.js';
import { RESOLUTIONS, type Resolution, spansWithin } from '../../../domain/stats/tally.js';
import { sharedNow } from '../../../domain/time/shared-time.js';
import type { OpenAt } from '../../../temporal/read/backlog/backlog-reader.js';
import type { ApiDependencies } from '../../http/context.js';
import { type Operation, operation } from '../../http/operation.js';
import { invalidRequest } from '../../http/validation.js';
import { deliveryParameters, kindParameter, timeParameter } from '../deliveries/filters.js';
import { statsSchema } from './stats-view.js';

/**
 * Intervals that can be asked for: how long they are, from which tallies they are added up, and the longest period,
 * milliseconds.
 */
const INTERVALS = {
  '5m': { ms: RESOLUTIONS['5m'].slotMs, resolution: '5m', longestMs: UNITS.d },
  '1h': { ms: UNITS.h, resolution: '1h', longestMs: 31 * UNITS.d },
  '1d': { ms: UNITS.d, resolution: '1h', longestMs: 31 * UNITS.d },
} as const satisfies Record<string, { ms: number; resolution: Resolution; longestMs: number }>;

type Interval = keyof typeof INTERVALS;

/** A period of whole intervals, milliseconds since the epoch. */
interface StatsPeriod {
  from: number;
  to: number;
}

/** How many deliveries wait, and how many were closed. */
export function statsOperations({ backlog, database }: ApiDependencies): Operation[] {
  return [
    operation('get', '/stats', 'getStats', {
      summary: 'Count deliveries: what is open now, and what was closed in a period',
      scope: 'deliveries:read',
      query: z.strictObject({
        endpoint_id: deliveryParameters.endpoint_id,
        event_kind: kindParameter,
        closed_after: timeParameter,
        closed_before: timeParameter,
        interval: z
          .enum(['5m', '1h', '1d'] satisfies Interval[])
          .default('1h')
          .describe('Length of the intervals: 5m for at most a day, 1h and 1d (UTC) for at most 31 days'),
      }),
      responses: { 200: { description: 'The counts', schema: statsSchema } },
      async handle({ account_id, query: { closed_after, closed_before, interval, ...filter } }) {
        const { ms, resolution } = INTERVALS[interval];
        const period = periodOf(interval, closed_after, closed_before);
        const spans = spansWithin(resolution, period.from, period.to - 1);
        const [open, rows] = await Promise.all([
          backlog.read({ account_id, ...filter }),
          database.tallies.read(account_id, { resolution, spans, ...filter }),
        ]);
        return {
          as_of: iso(open.at),
          open: viewOpen(open, ms),
          closed: viewClosed(slotsOf(rows, period.from, period.to), { ...period, interval, ms }),
        };
      },
    }),
  ];
}

/** The whole intervals that contain a period; by default the last day. @throws Problem if it is empty or too long */
function periodOf(interval: Interval, after: Date | undefined, before: Date | undefined): StatsPeriod {
  const { ms, longestMs } = INTERVALS[interval];
  const end = before?.getTime() ?? sharedNow();
  const begin = after?.getTime() ?? end - UNITS.d;
  const from = Math.floor(begin / ms) * ms;
  const to = Math.ceil(end / ms) * ms;
  const refuse = (detail: string) => {
    throw invalidRequest([{ parameter: 'closed_after', detail }]);
  };
  if (to <= from) refuse('must be earlier than closed_before');
  // A period that does not begin with an interval touches one more.
  if (to - from > longestMs + ms) refuse(`must be at most ${longestMs / UNITS.d} days before closed_before`);
  return { from, to };
}

function viewOpen({ deliveries, isComplete, overdueBefore }: OpenAt, ms: number) {
  const by = (keyOf: (delivery: OpenDelivery) => string) => backlogBy(deliveries, overdueBefore, keyOf);
  const endpoints = by(({ endpoint_id }) => endpoint_id);
  const times = by(({ createdAt }) => iso(Math.floor(createdAt / ms) * ms));
  return {
    ...backlogOf(deliveries, overdueBefore),
    exact: isComplete,
    by_kind: by(({ event_kind }) => event_kind).map(([event_kind, count]) => ({ event_kind, ...count })),
    ...byEndpoint(endpoints),
    by_time: inOrder(times.map(([from, count]): { from: string } & Backlog => ({ from, ...count }))),
  };
}

function viewClosed(
  slots: readonly ClosedSlot[],
  { from, to, interval, ms }: StatsPeriod & { interval: string; ms: number },
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
    ...byEndpoint(endpoints),
    by_time: inOrder(times.map(([start, count]) => ({ from: start, ...count }))),
  };
}

/** The largest, a hundred at most. */
function byEndpoint<T>(counts: readonly [endpointId: string, count: T][]) {
  const shown = counts.slice(0, 100);
  return {
    by_endpoint: shown.map(([endpoint_id, count]) => ({ endpoint_id, ...count })),
    ...(counts.length > shown.length && { endpoints_left_out: counts.length - shown.length }),
  };
}

function inOrder<T extends { from: string }>(rows: T[]): T[] {
  return rows.sort((one, other) => (one.from < other.from ? -1 : 1));
}

function iso(at: number): string {
  return new Date(at).toISOString();
}
