import { parseDuration, UNITS } from '../basics/duration.js';

/**
 * Waits between attempts, in milliseconds: the first stands between attempts 1 and 2. A schedule of n waits makes n + 1
 * attempts at most.
 */
export type RetrySchedule = readonly number[];

/** The most waits of a schedule: more would make a history too long to read. */
export const MAX_WAITS = 50;

/** The example schedule of the Standard Webhooks specification: 10 attempts over 75 h 35 m 5 s. */
export const DEFAULT_RETRY_SCHEDULE: RetrySchedule = parseRetrySchedule('5s,5m,30m,2h,5h,10h,14h,20h,24h');

/**
 * Waits are lengthened at random by up to this share, never shortened: endpoints that failed together come back apart.
 */
export const MAX_JITTER = 0.1;

/**
 * Reads a comma-separated schedule, such as `5s,5m,2h`. An empty text is a schedule without retries.
 *
 * @throws RangeError if a part is not a duration, or there are more than 50
 */
export function parseRetrySchedule(text: string): RetrySchedule {
  const parts = text.split(',').filter((part) => part.trim() !== '');
  if (parts.length > MAX_WAITS) throw new RangeError(`a retry schedule has at most ${MAX_WAITS} waits`);
  return parts.map(parseDuration);
}

/**
 * The time of the attempt that follows a failed one, milliseconds since the epoch, and why then.
 *
 * @param failed how many attempts of the schedule have failed so far, at least 1
 * @param now milliseconds since the epoch
 * @param retryAfter milliseconds since the epoch before which the endpoint asked not to be called
 * @param random a number from 0 up to 1, for the jitter
 * @returns `undefined` where the schedule is exhausted
 */
export function nextAttempt(
  schedule: RetrySchedule,
  failed: number,
  now: number,
  retryAfter: number | undefined,
  random: number,
): { at: number; trigger: 'schedule' | 'retry_after' } | undefined {
  const wait = schedule[failed - 1];
  if (wait === undefined) return undefined;
  const planned = now + Math.ceil(wait * (1 + MAX_JITTER * random));
  return retryAfter !== undefined && retryAfter > planned
    ? { at: retryAfter, trigger: 'retry_after' }
    : { at: planned, trigger: 'schedule' };
}

/**
 * The jitter of deliveries that wait together: the same number for the same attempt of the same group, so that it can
 * be calculated again, and members with the same schedule are due at the same time.
 *
 * @param seed names the group
 * @returns from 0 up to 1
 */
export function groupJitter(seed: string, attempt: number): number {
  // FNV-1a.
  let hash = 0x811c9dc5;
  for (const character of `${seed}:${attempt}`) {
    hash ^= character.charCodeAt(0);
    hash = Math.imul(hash, 0x01000193);
  }
  return (hash >>> 0) / 2 ** 32;
}

const SHORTEST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 7 * UNITS.d;

/** Whether a text is a wait that an endpoint may have between its attempts. */
export function isRetryWait(text: string): boolean {
  try {
    const wait = parseDuration(text);
    return wait >= SHORTEST_WAIT_MS && wait <= LONGEST_WAIT_MS;
  } catch {
    return false;
  }
}
