import { LRUCache } from 'lru-cache';
import { roomFor } from '../../basics/bounded-memory.js';
import type { RateLimit } from './rate-limit.js';

/** Numbers of one column of a shared table, by caller. */
export type Column = Record<string, number>;

/**
 * Changes that a table shares with the other processes: numbers to add to its columns, and numbers to raise its columns
 * to.
 */
export interface RateNews {
  /** The table and its window, the same in every process. */
  id: string;
  add: Record<string, Column>;
  raise: Record<string, Column>;
  /** Until when it matters, milliseconds since the epoch. */
  endsAt: number;
}

/** A table that processes share: each shares what it has counted, and reads what all of them have. */
export interface SharedTable {
  readonly name: string;
  /** Called when there is something to share. While it is absent, nothing is kept for sharing. */
  onNews?: () => void;
  /** Whether there is something that has not been shared. */
  readonly hasNews: boolean;
  /** The window of which it reads all rows, not only those of callers that it has counted itself. */
  readonly watched?: string;
  /** Takes what has not been shared. The caller shares it, or gives it back with {@link takeBack}. */
  news(now: number): RateNews | undefined;
  /** Keeps news that could not be shared, for the next time. */
  takeBack(news: RateNews): void;
  /** Takes over the shared numbers of a window. */
  learn(id: string, columns: Record<string, Column>, now: number): void;
}

/** The result of counting once. */
export interface Count {
  /** Whether it was within the limit. Only then was it counted. */
  within: boolean;
  /**
   * How often the caller has been counted in this window: by this process, and by the others as they last shared it.
   */
  count: number;
  /** Milliseconds until the window ends. */
  resetMs: number;
}

/** The most callers that a table remembers of each of two sorts: those who have used up their limit, and the others. */
export const MAX_CALLERS = 25_000;

/**
 * Counts callers against one limit in fixed windows of the clock, which begin and end at the same moments in every
 * process. It is exact for one process; several are exact except for what they have not shared yet.
 */
export class RateTable implements SharedTable {
  readonly name: string;
  readonly limit: RateLimit;
  onNews?: () => void;
  private endsAt = 0;
  private readonly counts: LRUCache<string, number>;
  /** Kept apart, so that no number of other callers makes one pass who has used up the limit. */
  private readonly exhausted: LRUCache<string, number>;
  private unshared = new Map<string, number>();

  constructor(name: string, limit: RateLimit, maxCallers = MAX_CALLERS) {
    this.name = name;
    this.limit = limit;
    this.counts = new LRUCache(roomFor(maxCallers));
    this.exhausted = new LRUCache(roomFor(maxCallers));
  }

  /**
   * Counts a caller, if that is within the limit.
   *
   * @param now milliseconds since the epoch
   * @param requests the caller's own limit, in place of the table's
   * @param times how often it counts
   */
  consume(caller: string, now: number, requests = this.limit.requests, times = 1): Count {
    this.beginWindow(now);
    const count = this.countOf(caller);
    const resetMs = this.endsAt - now;
    if (count + times > requests) return { within: false, count, resetMs };
    this.add(caller, times);
    return { within: true, count: count + times, resetMs };
  }

  /** Takes back what was counted. @param endsAt of the window in which that was, milliseconds since the epoch */
  giveBack(caller: string, endsAt: number, times = 1): void {
    if (endsAt === this.endsAt && this.countOf(caller) > 0)
      this.add(caller, -Math.min(times, this.countOf(caller)));
  }

  /** Milliseconds until a caller is within the limit again; 0 if it is now. @param requests as for {@link consume} */
  waitOf(caller: string, now: number, requests = this.limit.requests): number {
    this.beginWindow(now);
    return this.countOf(caller) >= requests ? this.endsAt - now : 0;
  }

  /** Forgets what was counted for a caller in this window, in all processes. */
  reset(caller: string): void {
    const count = this.countOf(caller);
    if (count > 0) this.add(caller, -count);
  }

  get hasNews(): boolean {
    return this.unshared.size > 0;
  }

  news(now: number): RateNews | undefined {
    this.beginWindow(now);
    if (this.unshared.size === 0) return undefined;
    const counts = Object.fromEntries(this.unshared);
    this.unshared = new Map();
    return { id: this.idOf(this.endsAt), add: { counts }, raise: {}, endsAt: this.endsAt };
  }

  takeBack({ id, add }: RateNews): void {
    if (id !== this.idOf(this.endsAt)) return;
    for (const [caller, count] of Object.entries(add['counts'] ?? {})) this.keepUnshared(caller, count);
  }

  learn(id: string, columns: Record<string, Column>, now: number): void {
    this.beginWindow(now);
    if (id !== this.idOf(this.endsAt)) return;
    for (const [caller, count] of Object.entries(columns['counts'] ?? {}))
      this.set(caller, count + (this.unshared.get(caller) ?? 0));
  }

  private add(caller: string, count: number): void {
    this.set(caller, this.countOf(caller) + count);
    if (!this.onNews) return;
    this.keepUnshared(caller, count);
    this.onNews();
  }

  private countOf(caller: string): number {
    return this.exhausted.get(caller) ?? this.counts.get(caller) ?? 0;
  }

  private set(caller: string, count: number): void {
    const [is, isNot] =
      count >= this.limit.requests ? [this.exhausted, this.counts] : [this.counts, this.exhausted];
    isNot.delete(caller);
    is.set(caller, count);
  }

  private keepUnshared(caller: string, count: number): void {
    if (this.unshared.size >= this.counts.maxSize && !this.unshared.has(caller)) return;
    this.unshared.set(caller, (this.unshared.get(caller) ?? 0) + count);
  }

  private beginWindow(now: number): void {
    const { windowMs } = this.limit;
    const endsAt = (Math.floor(now / windowMs) + 1) * windowMs;
    if (endsAt === this.endsAt) return;
    this.endsAt = endsAt;
    this.counts.clear();
    this.exhausted.clear();
    this.unshared = new Map();
  }

  private idOf(endsAt: number): string {
    return `${this.name}@${endsAt}`;
  }
}
