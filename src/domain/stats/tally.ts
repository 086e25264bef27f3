import { UNITS } from '../basics/duration.js';
import type { ClosedStatus } from '../delivery/delivery.js';
import type { Closing } from './closing.js';

/**
 * Closings are tallied twice: by five minutes, in rows of an hour, and by the hour, in rows of a day. So a question
 * about a day and one about a month both read few rows.
 */
export const RESOLUTIONS = {
  '5m': { slotMs: 5 * UNITS.m, spanMs: UNITS.h, keptMs: 2 * UNITS.d },
  '1h': { slotMs: UNITS.h, spanMs: UNITS.d, keptMs: 35 * UNITS.d },
} as const;

export type Resolution = keyof typeof RESOLUTIONS;

/** Names of counters: a closed status, or `attempts`, which the closed deliveries took. */
export type TallyCounter = ClosedStatus | 'attempts';

/** Counts for an endpoint and a kind in a span of time. */
export interface TallyRow {
  account_id: string;
  endpoint_id: string;
  event_kind: string;
  resolution: Resolution;
  /** When the span begins, milliseconds since the epoch. */
  span: number;
  /** By slot of the span, from 0 on. */
  slots: Record<number, Partial<Record<TallyCounter, number>>>;
}

/** More rows than this are not kept while they cannot be written: about an hour of ten thousand endpoints. */
const MAX_ROWS = 50_000;

/** Where the span of a resolution that contains a time begins. Milliseconds since the epoch. */
export function spanOf(resolution: Resolution, at: number): number {
  return at - (at % RESOLUTIONS[resolution].spanMs);
}

/** The beginnings of the spans that a period touches, both ends included. Milliseconds since the epoch. */
export function spansWithin(resolution: Resolution, from: number, to: number): number[] {
  const { spanMs } = RESOLUTIONS[resolution];
  const first = spanOf(resolution, from);
  return Array.from({ length: Math.floor((to - first) / spanMs) + 1 }, (_, index) => first + index * spanMs);
}

/** Counts closings until somebody takes what was counted. */
export class Tally {
  private rows = new Map<string, TallyRow>();
  /** Closings that were not counted because there were too many rows. */
  private lost = 0;

  /** @param at when it was closed, milliseconds since the epoch */
  add(
    { account_id, endpoint_id, event_kind, status, attempts }: Omit<Closing, 'event_id' | 'traced'>,
    at: number,
  ): void {
    for (const resolution of Object.keys(RESOLUTIONS) as Resolution[]) {
      const span = spanOf(resolution, at);
      const slot = Math.floor((at - span) / RESOLUTIONS[resolution].slotMs);
      const slots = { [slot]: { [status]: 1, attempts } };
      this.merge({ account_id, endpoint_id, event_kind, resolution, span, slots });
    }
  }

  /** Counts since the last call. */
  take(): { rows: TallyRow[]; lost: number } {
    const { rows, lost } = this;
    this.rows = new Map();
    this.lost = 0;
    return { rows: [...rows.values()], lost };
  }

  /** Adds what was taken and could not be written. */
  putBack(rows: readonly TallyRow[]): void {
    for (const row of rows) this.merge(row);
  }

  private merge(row: TallyRow): void {
    const key = [row.resolution, row.span, row.account_id, row.endpoint_id, row.event_kind].join('/');
    const known = this.rows.get(key);
    if (!known && this.rows.size >= MAX_ROWS) {
      this.lost += 1;
      return;
    }
    const slots = known?.slots ?? {};
    for (const [slot, counts] of Object.entries(row.slots)) {
      const sums = { ...slots[Number(slot)] };
      for (const [name, count] of Object.entries(counts) as [TallyCounter, number][])
        sums[name] = (sums[name] ?? 0) + count;
      slots[Number(slot)] = sums;
    }
    this.rows.set(key, { ...row, slots });
  }
}
