import { CLOSED_STATUSES, type ClosedStatus } from '../delivery/delivery.js';
import { RESOLUTIONS, type TallyRow } from './tally.js';

/** How many deliveries were closed, and how. */
export interface ClosedCount {
  deliveries: number;
  by_status: Record<ClosedStatus, number>;
  /** Attempts that they took. */
  attempts: number;
}

/** How many deliveries of an endpoint and a kind were closed in a slot of time. */
export interface ClosedSlot extends ClosedCount {
  endpoint_id: string;
  event_kind: string;
  /** When the slot begins, milliseconds since the epoch. */
  at: number;
}

/** The slots of rows that begin in a period; its end is not part of it. Milliseconds since the epoch. */
export function slotsOf(rows: readonly TallyRow[], from: number, to: number): ClosedSlot[] {
  return rows.flatMap(({ endpoint_id, event_kind, resolution, span, slots }) =>
    Object.entries(slots).flatMap(([slot, counts]) => {
      const at = span + Number(slot) * RESOLUTIONS[resolution].slotMs;
      if (at < from || at >= to) return [];
      const count = emptyCount();
      for (const status of CLOSED_STATUSES) {
        count.by_status[status] = counts[status] ?? 0;
        count.deliveries += counts[status] ?? 0;
      }
      return [{ ...count, attempts: counts.attempts ?? 0, endpoint_id, event_kind, at }];
    }),
  );
}

export function sumOf(slots: readonly ClosedSlot[]): ClosedCount {
  const sum = emptyCount();
  for (const slot of slots) addTo(sum, slot);
  return sum;
}

/** The sums for each value of something. */
export function sumsBy<K>(slots: readonly ClosedSlot[], keyOf: (slot: ClosedSlot) => K): [K, ClosedCount][] {
  const sums = new Map<K, ClosedCount>();
  for (const slot of slots) {
    const key = keyOf(slot);
    const sum = sums.get(key) ?? emptyCount();
    sums.set(key, sum);
    addTo(sum, slot);
  }
  return [...sums];
}

function addTo(sum: ClosedCount, { deliveries, attempts, by_status }: ClosedCount): void {
  sum.deliveries += deliveries;
  sum.attempts += attempts;
  for (const status of CLOSED_STATUSES) sum.by_status[status] += by_status[status];
}

function emptyCount(): ClosedCount {
  return { deliveries: 0, by_status: { delivered: 0, exhausted: 0, expired: 0, cancelled: 0 }, attempts: 0 };
}
