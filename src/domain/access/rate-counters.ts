import type { RateLimit } from './rate-limit.js';

/** How often something was counted in one window: what a process tells the others. */
export interface Tally {
  /** What is counted, and for whom. */
  key: string;
  count: number;
  /** When the window ends, milliseconds since the epoch. Windows of one length begin and end at the same moments in every process. */
  ends_at: number;
  /** Until when the key is blocked, milliseconds since the epoch; in the past where it is not. */
  blocked_until: number;
}

/** What came of counting once. */
export interface Count {
  /** Whether it was within the limit, and not blocked. Only then was it counted. */
  within: boolean;
  /** How often the key has been counted in this window, by all processes as far as this one knows. */
  count: number;
  /** The same, when this process counted the key the last time. */
  before: number;
  /** Milliseconds until the window ends, or the block. */
  reset_ms: number;
}

/** The tally of this process, and what the total was when it counted last. */
interface OwnTally extends Tally {
  total: number;
}

/** What another process has told, by key. */
type Peer = ReadonlyMap<string, Tally>;

/** Keys that a process counts at most; beyond, the one that has been quiet for longest is forgotten. */
const MAX_KEYS = 50_000;

/**
 * Counts in fixed windows of the clock, alone or together with other processes: each counts by itself, tells what it counted, and adds
 * what the others told when it decides. Exact for one process; for several, as far as they have told each other.
 */
export class RateCounters {
  /** Called whenever there is something to tell. */
  onNews: () => void = () => {};
  private readonly own = new Map<string, OwnTally>();
  private readonly peers = new Map<string, Peer>();
  private readonly maxKeys: number;

  constructor(maxKeys = MAX_KEYS) {
    this.maxKeys = maxKeys;
  }

  /**
   * Counts once, if that is within the limit.
   *
   * @param key names what is counted, and for whom; always with the same window
   * @param now milliseconds since the epoch
   */
  consume(key: string, { requests, window_ms }: RateLimit, now: number): Count {
    const ends_at = (Math.floor(now / window_ms) + 1) * window_ms;
    const others = this.ofOthers(key, ends_at);
    const own = this.touch(key, ends_at, others.count);
    const before = own.total;
    const total = own.count + others.count;
    const blocked_until = Math.max(own.blocked_until, others.blocked_until);
    if (blocked_until > now) return { within: false, count: total, before, reset_ms: blocked_until - now };
    if (total >= requests) return { within: false, count: total, before, reset_ms: ends_at - now };
    own.count += 1;
    own.total = total + 1;
    this.onNews();
    return { within: true, count: own.total, before, reset_ms: ends_at - now };
  }

  /** Blocks a key that has just been counted, whatever is left of its limit. @param until milliseconds since the epoch */
  block(key: string, until: number): void {
    const own = this.own.get(key);
    if (!own) return;
    own.blocked_until = until;
    this.onNews();
  }

  /** Forgets what this process counted for a key. The other processes hear of it with what it tells next. */
  forget(key: string): void {
    if (this.own.delete(key)) this.onNews();
  }

  /** What this process has counted in windows that are open, and its blocks. What has ended is forgotten. */
  open(now: number): Tally[] {
    for (const [key, tally] of this.own) if (!isOpen(tally, now)) this.own.delete(key);
    for (const [id, peer] of this.peers) {
      if (![...peer.values()].some((tally) => isOpen(tally, now))) this.peers.delete(id);
    }
    return [...this.own.values()].map(({ total: _, ...tally }) => tally);
  }

  /** Takes what another process tells, in place of what it told before. */
  learn(process: string, tallies: readonly Tally[]): void {
    this.peers.set(process, new Map(tallies.map((tally) => [tally.key, tally])));
  }

  private ofOthers(key: string, ends_at: number): Pick<Tally, 'count' | 'blocked_until'> {
    let count = 0;
    let blocked_until = 0;
    for (const peer of this.peers.values()) {
      const tally = peer.get(key);
      if (!tally) continue;
      if (tally.ends_at === ends_at) count += tally.count;
      blocked_until = Math.max(blocked_until, tally.blocked_until);
    }
    return { count, blocked_until };
  }

  /** The key's own tally in that window, as the last in line to be forgotten. */
  private touch(key: string, ends_at: number, othersCount: number): OwnTally {
    const known = this.own.get(key);
    const blocked_until = known?.blocked_until ?? 0;
    const tally =
      known?.ends_at === ends_at ? known : { key, ends_at, count: 0, total: othersCount, blocked_until };
    this.own.delete(key);
    this.own.set(key, tally);
    if (this.own.size > this.maxKeys) {
      const [quietest] = this.own.keys();
      if (quietest !== undefined) this.own.delete(quietest);
    }
    return tally;
  }
}

/** When a tally no longer matters, milliseconds since the epoch. */
export function tallyEnd({ ends_at, blocked_until }: Tally): number {
  return Math.max(ends_at, blocked_until);
}

function isOpen(tally: Tally, now: number): boolean {
  return tallyEnd(tally) > now;
}
