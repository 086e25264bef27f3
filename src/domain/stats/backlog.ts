import type { OpenStatus } from '../delivery/delivery.js';

/** An open delivery, as it is counted. Times are milliseconds since the epoch. */
export interface OpenDelivery {
  account_id: string;
  endpoint_id: string;
  event_kind: string;
  status: OpenStatus;
  /** When its event was accepted. */
  createdAt: number;
  /** When its next attempt is due; absent if it waits for its endpoint or for a person. */
  dueAt?: number;
}

/**
 * Beyond an attempt's own limit: waiting for a slot, reading the endpoint, signing, and the way of the result to its
 * row.
 */
const ATTEMPT_OVERHEAD_MS = 10_000;

/**
 * A delivery that has been due for longer than this is overdue: its attempt has not begun, or its result would be
 * known.
 *
 * @param attemptTimeoutMs time for an endpoint to answer
 */
export function overdueAfter(attemptTimeoutMs: number): number {
  return attemptTimeoutMs + ATTEMPT_OVERHEAD_MS;
}

/** How many deliveries wait, and for how long. */
export interface Backlog {
  deliveries: number;
  by_status: Record<OpenStatus, number>;
  /** Due for longer than an attempt can take, and without a result: their attempts have not begun. */
  overdue: number;
  /** When the oldest event among them was accepted. ISO 8601, UTC. */
  oldest_created_at?: string;
  /** Since when the longest overdue one has been due. ISO 8601, UTC. */
  overdue_since?: string;
}

/** Adds up deliveries. */
export class BacklogCount {
  private readonly byStatus = { delivering: 0, retrying: 0, parked: 0 };
  private deliveries = 0;
  private overdue = 0;
  private oldest = Number.POSITIVE_INFINITY;
  private firstDue = Number.POSITIVE_INFINITY;
  private readonly overdueBefore: number;

  /** @param overdueBefore a delivery that was due before is overdue, milliseconds since the epoch */
  constructor(overdueBefore: number) {
    this.overdueBefore = overdueBefore;
  }

  add({ status, createdAt, dueAt }: OpenDelivery): void {
    this.deliveries += 1;
    this.byStatus[status] += 1;
    this.oldest = Math.min(this.oldest, createdAt);
    if (dueAt === undefined || dueAt >= this.overdueBefore) return;
    this.overdue += 1;
    this.firstDue = Math.min(this.firstDue, dueAt);
  }

  get result(): Backlog {
    return {
      deliveries: this.deliveries,
      by_status: { ...this.byStatus },
      overdue: this.overdue,
      ...(this.deliveries > 0 && { oldest_created_at: new Date(this.oldest).toISOString() }),
      ...(this.overdue > 0 && { overdue_since: new Date(this.firstDue).toISOString() }),
    };
  }
}

/** The backlog of all. @param overdueBefore a delivery that was due before is overdue, milliseconds since the epoch */
export function backlogOf(deliveries: readonly OpenDelivery[], overdueBefore: number): Backlog {
  const count = new BacklogCount(overdueBefore);
  for (const delivery of deliveries) count.add(delivery);
  return count.result;
}

/** Sorts counts: the largest first, and those of the same size by their names. */
export function largestFirst(
  [name, { deliveries }]: readonly [string, { deliveries: number }],
  [otherName, other]: readonly [string, { deliveries: number }],
): number {
  return other.deliveries - deliveries || (name < otherName ? -1 : 1);
}

/** The backlog of each value of something, the largest first. */
export function backlogBy(
  deliveries: readonly OpenDelivery[],
  overdueBefore: number,
  keyOf: (delivery: OpenDelivery) => string,
): [key: string, backlog: Backlog][] {
  const counts = new Map<string, BacklogCount>();
  for (const delivery of deliveries) {
    const key = keyOf(delivery);
    const count = counts.get(key) ?? new BacklogCount(overdueBefore);
    counts.set(key, count);
    count.add(delivery);
  }
  return [...counts].map(([key, count]): [string, Backlog] => [key, count.result]).sort(largestFirst);
}
