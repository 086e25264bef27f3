import { UNITS } from '../basics/duration.js';

/** Time for which a minute is kept: an hour is shown. Milliseconds. */
export const MINUTES_KEPT_MS = 2 * UNITS.h;

/**
 * Upper bounds of the spans in which times of arrival are counted: 10 ms, and each half as long again, to some seven
 * days.
 */
const FIRST_BOUND_MS = 10;
const GROWTH = 1.5;
const BOUNDS = 50;

/** Attempts of a minute, and how long those that arrived had taken. */
export interface MinuteRow {
  /** When it begins, milliseconds since the epoch. */
  minute: number;
  succeeded: number;
  failed: number;
  /** First arrivals, by the span of the time from acceptance to arrival. */
  arrivals: Record<number, number>;
}

/** Counts the attempts of one process by the minute, until somebody takes what was counted. */
export class MinuteCount {
  private rows = new Map<number, MinuteRow>();

  /**
   * @param at when the attempt ended, milliseconds since the epoch
   * @param arrivedAfterMs from the acceptance of the event; absent if it did not arrive, or was sent by hand
   */
  add(at: number, isSuccess: boolean, arrivedAfterMs: number | undefined): void {
    const row = this.rowOf(at - (at % UNITS.m));
    if (isSuccess) row.succeeded += 1;
    else row.failed += 1;
    if (arrivedAfterMs === undefined) return;
    const span = spanOf(arrivedAfterMs);
    row.arrivals[span] = (row.arrivals[span] ?? 0) + 1;
  }

  /** Counts since the last call. */
  take(): MinuteRow[] {
    const rows = [...this.rows.values()];
    this.rows = new Map();
    return rows;
  }

  /** Adds what was taken and could not be written. Minutes that are too old to be shown are left out. */
  putBack(rows: readonly MinuteRow[], now: number): void {
    for (const { minute, succeeded, failed, arrivals } of rows) {
      if (minute < now - MINUTES_KEPT_MS) continue;
      const row = this.rowOf(minute);
      row.succeeded += succeeded;
      row.failed += failed;
      addArrivals(row.arrivals, arrivals);
    }
  }

  private rowOf(minute: number): MinuteRow {
    const row = this.rows.get(minute) ?? { minute, succeeded: 0, failed: 0, arrivals: {} };
    this.rows.set(minute, row);
    return row;
  }
}

/** Minutes together. */
export function sumOfMinutes(rows: readonly MinuteRow[]): Omit<MinuteRow, 'minute'> {
  const sum = { succeeded: 0, failed: 0, arrivals: {} };
  for (const row of rows) {
    sum.succeeded += row.succeeded;
    sum.failed += row.failed;
    addArrivals(sum.arrivals, row.arrivals);
  }
  return sum;
}

/**
 * The time within which a part of what arrived had arrived, milliseconds: within its span it is spread evenly.
 * `undefined` if nothing has.
 *
 * @param part 0.5 for the median
 */
export function arrivalQuantile(arrivals: MinuteRow['arrivals'], part: number): number | undefined {
  const spans = Object.entries(arrivals)
    .map(([span, count]) => ({ span: Number(span), count }))
    .sort((one, other) => one.span - other.span);
  const total = spans.reduce((sum, { count }) => sum + count, 0);
  let rest = part * total;
  for (const { span, count } of spans) {
    if (rest <= count) {
      const from = span === 0 ? 0 : boundOf(span - 1);
      return Math.round(from + (boundOf(span) - from) * (rest / count));
    }
    rest -= count;
  }
  return undefined;
}

function addArrivals(sum: Record<number, number>, arrivals: Record<number, number>): void {
  for (const [span, count] of Object.entries(arrivals)) sum[Number(span)] = (sum[Number(span)] ?? 0) + count;
}

function spanOf(ms: number): number {
  const span = Math.ceil(Math.log(Math.max(ms, 1) / FIRST_BOUND_MS) / Math.log(GROWTH));
  return Math.min(Math.max(span, 0), BOUNDS - 1);
}

function boundOf(span: number): number {
  return FIRST_BOUND_MS * GROWTH ** span;
}
