import { formatDuration, parseDuration } from '../basics/duration.js';

/** So many requests in a window of time. */
export interface RateLimit {
  requests: number;
  /** Milliseconds, whole seconds. */
  window_ms: number;
}

/** What is left of one limit for one caller. */
export interface RateLimitState {
  limit: RateLimit;
  remaining: number;
  /** Milliseconds until the window ends, or the block. */
  reset_ms: number;
}

const OFF = 'off';
const MAX_WINDOW_MS = 24 * 3_600_000;

/**
 * Reads limits such as `600/1m,20000/1h`; `off` is none.
 *
 * @throws RangeError naming the part that is wrong
 */
export function parseRateLimits(text: string): RateLimit[] {
  if (text.trim() === OFF) return [];
  return text.split(',').map((part) => {
    const match = /^([1-9]\d{0,8})\/(\S+)$/.exec(part.trim());
    if (!match)
      throw new RangeError(`"${part}" is no rate limit; write requests/window, such as 600/1m, or off`);
    const window_ms = parseDuration(match[2] ?? '');
    if (window_ms < 1_000 || window_ms > MAX_WINDOW_MS || window_ms % 1_000 !== 0) {
      throw new RangeError(`the window of "${part}" must be whole seconds, from 1s to 1d`);
    }
    return { requests: Number(match[1]), window_ms };
  });
}

/** A limit's name in the headers, such as `token-1m`. */
export function policyName(kind: string, { window_ms }: RateLimit): string {
  return `${kind}-${formatDuration(window_ms)}`;
}

/** The value of `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers-10): quota, and window in seconds. */
export function renderPolicy(kind: string, limits: readonly RateLimit[]): string {
  return limits
    .map((limit) => `"${policyName(kind, limit)}";q=${limit.requests};w=${limit.window_ms / 1_000}`)
    .join(', ');
}

/** The value of `RateLimit` (same draft): what remains, and seconds until it is replenished. */
export function renderState(kind: string, states: readonly RateLimitState[]): string {
  return states
    .map(({ limit, remaining, reset_ms }) => {
      return `"${policyName(kind, limit)}";r=${remaining};t=${Math.ceil(reset_ms / 1_000)}`;
    })
    .join(', ');
}

/** A caller is blocked for longer after every so many requests that were refused. */
export const REFUSALS_PER_BLOCK = 10;

/**
 * How long a caller is blocked who went on although refused.
 *
 * @param before how many of the caller's requests were refused today, when this was asked the last time
 * @param refusals how many there are now
 * @param first length of the first block, milliseconds; each is twice as long as the one before
 * @param longest milliseconds
 * @returns `undefined` where these refusals block nobody
 */
export function blockAfter(
  before: number,
  refusals: number,
  first: number,
  longest: number,
): number | undefined {
  const blocks = Math.floor(refusals / REFUSALS_PER_BLOCK);
  if (blocks === Math.floor(before / REFUSALS_PER_BLOCK)) return undefined;
  return Math.min(first * 2 ** (blocks - 1), longest);
}
