import { createHash } from 'node:crypto';
import { type BlockSettings, RateBlocks } from '../../domain/access/limits/rate-blocks.js';
import {
  policyName,
  type RateLimit,
  type RateLimitState,
  renderPolicy,
  renderState,
} from '../../domain/access/limits/rate-limit.js';
import { RateTable, type SharedTable } from '../../domain/access/limits/rate-table.js';
import { UNITS } from '../../domain/basics/duration.js';
import { Problem } from '../../domain/http/problem.js';
import { sharedNow } from '../../domain/time/shared-time.js';

/** Response about limits; and why, if the request is refused. */
export interface LimitVerdict {
  headers: Record<string, string>;
  refusal?: Problem;
  /** Takes back that the request was counted, as if it had not been sent. */
  giveBack(): void;
}

/** One of the windows in which a caller is counted. */
interface Window {
  table: RateTable;
  limit: RateLimit;
}

/** Limits the requests of one kind of caller: a token, an account, an address or a login name. */
export class RateLimiter {
  private readonly kind: string;
  private readonly windows: readonly Window[];
  /** Counts callers that have a limit of their own, which each request says. */
  private readonly own: RateTable;
  private readonly blocks: RateBlocks;
  private readonly refused: (policy: string) => void;

  /**
   * @param kind what is limited, as named in the headers
   * @param refused called for each request that is refused, with the name of the limit
   */
  constructor(
    kind: string,
    limits: readonly RateLimit[],
    block: BlockSettings,
    refused: (policy: string) => void,
  ) {
    this.kind = kind;
    this.windows = limits.map((limit) => ({ limit, table: new RateTable(policyName(kind, limit), limit) }));
    this.own = new RateTable(`${kind}-own`, { requests: 1, windowMs: UNITS.m });
    this.blocks = new RateBlocks(`${kind}-blocks`, block);
    this.refused = refused;
  }

  /** Its counts, to be shared with other processes. */
  get tables(): readonly SharedTable[] {
    return [...this.windows.map(({ table }) => table), this.own, this.blocks];
  }

  /**
   * Counts a request.
   *
   * @param caller whose request it is: an id of ours, or what {@link anonymous} makes of anything else
   * @param now milliseconds since the epoch
   * @param perMinute the caller's own limit, in place of all others
   * @param times as how many requests it counts: all of them, or none
   */
  consume(caller: string, now = sharedNow(), perMinute?: number, times = 1): LimitVerdict {
    const windows =
      perMinute === undefined
        ? this.windows
        : [{ table: this.own, limit: { requests: perMinute, windowMs: UNITS.m } }];
    const isBlocked = this.blocks.waitOf(caller, now) > 0;
    const states: RateLimitState[] = [];
    const counted: { table: RateTable; endsAt: number }[] = [];
    const giveBack = () => {
      for (const { table, endsAt } of counted.splice(0)) table.giveBack(caller, endsAt, times);
    };
    for (const { table, limit } of windows) {
      if (isBlocked) return this.refuse(windows, limit, caller, now, times);
      const { within, count, resetMs } = table.consume(caller, now, limit.requests, times);
      if (!within) return this.refuse(windows, limit, caller, now, times);
      states.push({ limit, remaining: limit.requests - count, resetMs });
      counted.push({ table, endsAt: now + resetMs });
    }
    return { headers: states.length > 0 ? this.headers(windows, states) : {}, giveBack };
  }

  /** Whether it would refuse a request of a caller now. */
  refuses(caller: string, now = sharedNow()): boolean {
    return (
      this.blocks.waitOf(caller, now) > 0 || this.windows.some(({ table }) => table.waitOf(caller, now) > 0)
    );
  }

  /** Forgets what was counted for a caller who has proved to be welcome, such as a person who has logged in. */
  reset(caller: string): void {
    for (const { table } of this.windows) table.reset(caller);
    this.blocks.reset(caller);
  }

  private refuse(
    windows: readonly Window[],
    limit: RateLimit,
    caller: string,
    now: number,
    times: number,
  ): LimitVerdict {
    this.blocks.refused(caller, now);
    this.refused(policyName(this.kind, limit));
    const resetMs = Math.max(
      this.blocks.waitOf(caller, now),
      ...windows.map((window) => window.table.waitOf(caller, now, window.limit.requests - times + 1)),
    );
    const seconds = Math.max(1, Math.ceil(resetMs / 1_000));
    return {
      headers: this.headers(windows, [{ limit, remaining: 0, resetMs }]),
      refusal: new Problem(
        'rate_limited',
        `More than ${limit.requests} requests in ${limit.windowMs / 1_000} seconds for this ${this.kind}. Come back in ${seconds} seconds; requests before then can make the wait longer.`,
        { headers: { 'retry-after': String(seconds) } },
      ),
      giveBack: () => {},
    };
  }

  private headers(windows: readonly Window[], states: readonly RateLimitState[]): Record<string, string> {
    const limits = windows.map(({ limit }) => limit);
    return {
      'ratelimit-policy': renderPolicy(this.kind, limits),
      ratelimit: renderState(this.kind, states),
    };
  }
}

/**
 * A hash of an address or a name. Its length does not depend on what the sender chose, and it does not show who the
 * caller is.
 */
export function anonymous(caller: string): string {
  return createHash('sha256').update(caller).digest('base64url');
}
