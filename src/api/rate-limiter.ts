import { RateLimiterRes } from 'rate-limiter-flexible';
import { Problem } from '../domain/problem.js';
import {
  blockAfter,
  policyName,
  type RateLimit,
  type RateLimitState,
  renderPolicy,
  renderState,
} from '../domain/rate-limit.js';
import type { Counter, CounterFactory } from '../models/rate-counters.js';

/** How long a caller's refusals are remembered, seconds. */
const REFUSALS_REMEMBERED_S = 24 * 3_600;
/** How long the store is left alone after it failed, milliseconds: requests must not each wait for it. */
const STORE_PAUSE_MS = 5_000;

/** What a limiter tells of. */
export interface RateLimitEvents {
  /** The store cannot be reached: requests pass uncounted for the next seconds. */
  storeFailed(error: unknown): void;
  /** A request was refused. */
  refused(policy: string): void;
}

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
  private readonly windows: { limit: RateLimit; counter: Counter }[];
  private readonly refusals: Counter;
  private readonly policy: string;
  private readonly kind: string;
  private readonly limits: readonly RateLimit[];
  private readonly block: BlockSettings;
  private readonly events: RateLimitEvents;
  private passUntil = 0;

  /** @param kind what is limited, as it stands in the headers */
  constructor(
    kind: string,
    limits: readonly RateLimit[],
    counters: CounterFactory,
    block: BlockSettings,
    events: RateLimitEvents,
  ) {
    this.kind = kind;
    this.limits = limits;
    this.block = block;
    this.events = events;
    this.windows = limits.map((limit) => ({
      limit,
      counter: counters({
        name: policyName(kind, limit),
        points: limit.requests,
        duration_s: limit.window_ms / 1_000,
      }),
    }));
    this.refusals = counters({
      name: `${kind}-refusals`,
      points: Number.MAX_SAFE_INTEGER,
      duration_s: REFUSALS_REMEMBERED_S,
    });
    this.policy = renderPolicy(kind, limits);
  }

  /** Counts a request. Where the counters cannot be reached it passes, uncounted. */
  async consume(key: string): Promise<Verdict> {
    if (this.limits.length === 0) return { headers: {} };
    const headers = { 'ratelimit-policy': this.policy };
    if (Date.now() < this.passUntil) return { headers };
    try {
      return await this.count(key, headers);
    } catch (error) {
      this.passUntil = Date.now() + STORE_PAUSE_MS;
      this.events.storeFailed(error);
      return { headers };
    }
  }

  private async count(key: string, headers: Record<string, string>): Promise<Verdict> {
    const states: RateLimitState[] = [];
    for (const { limit, counter } of this.windows) {
      const { within, result } = await consume(counter, key);
      const state = { limit, remaining: result.remainingPoints, reset_ms: result.msBeforeNext };
      if (!within) return this.refuse(key, counter, state, headers);
      states.push(state);
    }
    return { headers: { ...headers, ratelimit: renderState(this.kind, states) } };
  }

  private async refuse(
    key: string,
    counter: Counter,
    state: RateLimitState,
    headers: Record<string, string>,
  ): Promise<Verdict> {
    const { limit } = state;
    const { consumedPoints } = await this.refusals.consume(key);
    const block = blockAfter(consumedPoints, this.block.first_ms, this.block.longest_ms);
    if (block !== undefined && block > state.reset_ms) {
      await counter.block(key, block / 1_000);
      state.reset_ms = block;
    }
    this.events.refused(policyName(this.kind, limit));
    const seconds = Math.max(1, Math.ceil(state.reset_ms / 1_000));
    return {
      headers: { ...headers, ratelimit: renderState(this.kind, [state]) },
      refusal: new Problem(
        'rate_limited',
        `More than ${limit.requests} requests in ${limit.window_ms / 1_000} seconds for this ${this.kind}. Come back in ${seconds} seconds; going on sooner makes the wait longer.`,
        { headers: { 'retry-after': String(seconds) } },
      ),
    };
  }
}

/** @throws Error where the store cannot be reached */
async function consume(counter: Counter, key: string): Promise<{ within: boolean; result: RateLimiterRes }> {
  try {
    return { within: true, result: await counter.consume(key) };
  } catch (result) {
    if (result instanceof RateLimiterRes) return { within: false, result };
    throw result;
  }
}
