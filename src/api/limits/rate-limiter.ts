import { createHash } from 'node:crypto';
import type { RateCounters } from '../../domain/access/rate-counters.js';
import {
  blockAfter,
  policyName,
  type RateLimit,
  type RateLimitState,
  renderPolicy,
  renderState,
} from '../../domain/access/rate-limit.js';
import { Problem } from '../../domain/http/problem.js';

/** A caller's refusals are counted by the day, without a limit. */
const REFUSALS: RateLimit = { requests: Number.POSITIVE_INFINITY, window_ms: 24 * 3_600_000 };

/** How long callers are blocked who go on although refused. */
export interface BlockSettings {
  first_ms: number;
  longest_ms: number;
}

/** What is answered about limits, and where the request is over one, why. */
export interface Verdict {
  headers: Record<string, string>;
  refusal?: Problem;
}

/** Limits the requests of one kind of caller: a token, an account or an address. */
export class RateLimiter {
  private readonly policy: string;
  private readonly kind: string;
  private readonly limits: readonly { limit: RateLimit; name: string }[];
  private readonly counters: RateCounters;
  private readonly block: BlockSettings;
  private readonly refused: (policy: string) => void;

  /**
   * @param kind what is limited, as it stands in the headers
   * @param refused told of each request that was refused, with the limit's name
   */
  constructor(
    kind: string,
    limits: readonly RateLimit[],
    counters: RateCounters,
    block: BlockSettings,
    refused: (policy: string) => void,
  ) {
    this.kind = kind;
    this.limits = limits.map((limit) => ({ limit, name: policyName(kind, limit) }));
    this.counters = counters;
    this.block = block;
    this.refused = refused;
    this.policy = renderPolicy(kind, limits);
  }

  /**
   * Counts a request.
   *
   * @param caller whose request it is: an id of ours, or what {@link anonymous} makes of anything else
   * @param now milliseconds since the epoch
   */
  consume(caller: string, now = Date.now()): Verdict {
    if (this.limits.length === 0) return { headers: {} };
    const states: RateLimitState[] = [];
    for (const { limit, name } of this.limits) {
      const key = `${name}:${caller}`;
      const { within, count, reset_ms } = this.counters.consume(key, limit, now);
      const state = { limit, remaining: Math.max(0, limit.requests - count), reset_ms };
      if (!within) return this.refuse(caller, key, { ...state, remaining: 0 }, now);
      states.push(state);
    }
    return { headers: this.headers(states) };
  }

  /** Forgets what this process counted for a caller who turned out to be welcome, such as a person who has logged in. */
  reset(caller: string): void {
    for (const { name } of this.limits) this.counters.forget(`${name}:${caller}`);
    this.counters.forget(`${this.kind}-refusals:${caller}`);
  }

  private refuse(caller: string, key: string, state: RateLimitState, now: number): Verdict {
    const { limit } = state;
    const { before, count } = this.counters.consume(`${this.kind}-refusals:${caller}`, REFUSALS, now);
    const block = blockAfter(before, count, this.block.first_ms, this.block.longest_ms);
    if (block !== undefined && block > state.reset_ms) {
      this.counters.block(key, now + block);
      state.reset_ms = block;
    }
    this.refused(policyName(this.kind, limit));
    const seconds = Math.max(1, Math.ceil(state.reset_ms / 1_000));
    return {
      headers: this.headers([state]),
      refusal: new Problem(
        'rate_limited',
        `More than ${limit.requests} requests in ${limit.window_ms / 1_000} seconds for this ${this.kind}. Come back in ${seconds} seconds; going on sooner makes the wait longer.`,
        { headers: { 'retry-after': String(seconds) } },
      ),
    };
  }

  private headers(states: readonly RateLimitState[]): Record<string, string> {
    return { 'ratelimit-policy': this.policy, ratelimit: renderState(this.kind, states) };
  }
}

/** A hash of a caller who is known by an address or a name: what others need not be told, and as long as its sender likes. */
export function anonymous(caller: string): string {
  return createHash('sha256').update(caller).digest('base64url');
}
