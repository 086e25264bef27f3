import { LRUCache } from 'lru-cache';
import { roomFor } from '../../basics/bounded-memory.js';
import { UNITS } from '../../basics/duration.js';
import { type Column, MAX_CALLERS, type RateNews, type SharedTable } from './rate-table.js';

/** A caller that has this many requests refused in one minute of the clock is ignoring the refusals. */
export const REFUSALS_PER_MINUTE = 10;

/** How long callers that ignore refusals are blocked. */
export interface BlockSettings {
  /** Length of the first block, milliseconds; each is twice as long as the one before. */
  firstMs: number;
  longestMs: number;
}

interface BlockedCaller {
  /** The number of minutes of this day (UTC) in which the caller ignored refusals. */
  strikes: number;
  /** The last of them, counted from the epoch. */
  minute: number;
  /** Milliseconds since the epoch. */
  until: number;
}

/** Blocks callers that ignore refusals, longer with every minute in which they do so. */
export class RateBlocks implements SharedTable {
  readonly name: string;
  onNews?: () => void;
  private readonly settings: BlockSettings;
  private day = 0;
  private minute = 0;
  private readonly refusals: LRUCache<string, number>;
  private readonly blocks: LRUCache<string, BlockedCaller>;
  private unshared = new Set<string>();

  constructor(name: string, settings: BlockSettings, maxCallers = MAX_CALLERS) {
    this.name = name;
    this.settings = settings;
    this.refusals = new LRUCache(roomFor(maxCallers));
    this.blocks = new LRUCache(roomFor(maxCallers));
  }

  /** Milliseconds until a caller's block ends; 0 if it is not blocked. */
  waitOf(caller: string, now: number): number {
    return Math.max(0, (this.blocks.get(caller)?.until ?? 0) - now);
  }

  /** Counts a refused request, and blocks the caller if it ignores refusals. */
  refused(caller: string, now: number): void {
    this.beginPeriods(now);
    const refusals = (this.refusals.get(caller) ?? 0) + 1;
    this.refusals.set(caller, refusals);
    const block = this.blocks.get(caller) ?? { strikes: 0, minute: 0, until: 0 };
    if (refusals < REFUSALS_PER_MINUTE || block.minute === this.minute) return;
    const strikes = block.strikes + 1;
    const length = Math.min(this.settings.firstMs * 2 ** (strikes - 1), this.settings.longestMs);
    this.blocks.set(caller, { strikes, minute: this.minute, until: Math.max(block.until, now + length) });
    if (!this.onNews) return;
    this.unshared.add(caller);
    this.onNews();
  }

  /** Forgets the refusals of this minute. A block that was made stays. */
  reset(caller: string): void {
    this.refusals.delete(caller);
  }

  get hasNews(): boolean {
    return this.unshared.size > 0;
  }

  get watched(): string {
    return `${this.name}@${(this.day + 1) * UNITS.d}`;
  }

  news(now: number): RateNews | undefined {
    this.beginPeriods(now);
    if (this.unshared.size === 0) return undefined;
    const raise = { strikes: {} as Column, minute: {} as Column, until: {} as Column };
    let endsAt = (this.day + 1) * UNITS.d;
    for (const caller of this.unshared) {
      const block = this.blocks.peek(caller);
      if (!block) continue;
      for (const column of ['strikes', 'minute', 'until'] as const) raise[column][caller] = block[column];
      endsAt = Math.max(endsAt, block.until);
    }
    this.unshared = new Set();
    return { id: this.watched, add: {}, raise, endsAt };
  }

  takeBack({ raise }: RateNews): void {
    for (const caller of Object.keys(raise['until'] ?? {})) this.unshared.add(caller);
  }

  learn(id: string, { strikes, minute, until }: Record<string, Column>, now: number): void {
    this.beginPeriods(now);
    const isToday = id === this.watched;
    for (const caller of Object.keys(until ?? {})) {
      const own = this.blocks.peek(caller);
      const block = {
        strikes: Math.max(own?.strikes ?? 0, isToday ? (strikes?.[caller] ?? 0) : 0),
        minute: Math.max(own?.minute ?? 0, minute?.[caller] ?? 0),
        until: Math.max(own?.until ?? 0, until?.[caller] ?? 0),
      };
      if (isToday || block.until > now) this.blocks.set(caller, block);
    }
  }

  private beginPeriods(now: number): void {
    const minute = Math.floor(now / UNITS.m);
    if (minute !== this.minute) this.refusals.clear();
    this.minute = minute;
    const day = Math.floor(now / UNITS.d);
    if (day === this.day) return;
    this.day = day;
    for (const [caller, block] of this.blocks.entries()) {
      if (block.until > now) this.blocks.set(caller, { ...block, strikes: 0 });
      else this.blocks.delete(caller);
    }
  }
}
