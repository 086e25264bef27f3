import { formatDuration, parseDuration, UNITS } from '../../basics/duration.js';

/** A number of requests in a window of time. */
export interface RateLimit {
  requests: number;
  /** Milliseconds, whole seconds. */
  windowMs: number;
}

/** Remainder of one limit for one caller. */
export interface RateLimitState {
  limit: RateLimit;
  remaining: number;
  /** Milliseconds until the window or the block ends. */
  resetMs: number;
}

const OFF = 'off';
const MAX_WINDOW_MS = UNITS.d;

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
      throw new RangeError(`"${part}" is not a rate limit; write requests/window, such as 600/1m, or off`);
    const windowMs = parseDuration(match[2] ?? '');
    if (windowMs < 1_000 || windowMs > MAX_WINDOW_MS || windowMs % 1_000 !== 0) {
      throw new RangeError(`the window of "${part}" must be whole seconds, from 1s to 1d`);
    }
    return { requests: Number(match[1]), windowMs };
  });
}

/** A limit's name in the headers, such as `token-1m`. */
export function policyName(kind: string, { windowMs }: RateLimit): string {
  return `${kind}-${formatDuration(windowMs)}`;
}

/** The value of `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers-10): quota, and window in seconds. */
export function renderPolicy(kind: string, limits: readonly RateLimit[]): string {
  return limits
    .map((limit) => `"${policyName(kind, limit)}";q=${limit.requests};w=${limit.windowMs / 1_000}`)
    .join(', ');
}

/** The value of `RateLimit` (same draft): what remains, and seconds until it is replenished. */
export function renderState(kind: string, states: readonly RateLimitState[]): string {
  return states
    .map(({ limit, remaining, resetMs }) => {
      return `"${policyName(kind, limit)}";r=${remaining};t=${Math.ceil(resetMs / 1_000)}`;
    })
    .join(', ');
}
