import { TIMINGS, type Timings } from '../../timings.js';
import { MAX_JITTER } from '../retry-schedule.js';

/** After this many failures in a row, new deliveries wait for a successful probe instead of adding to them. */
export const BACKOFF_AFTER_FAILURES = 10;

/** Later probes come half as often each time, until they come this many times less often. */
const SLOWEST_PROBE = 60;
/** The breaker stays open this long after a probe is due (ms). If it is not renewed by then, deliveries resume. */
const RENEWAL_MS = 30_000;

/**
 * Circuit breaker of an endpoint, as stored with it, so that every process reads it with the endpoint. It opens at the
 * tenth failure in a row and closes at the first success. The process that sees the tenth failure writes it; the
 * endpoint's incident renews and removes it.
 */
export interface FailingMark {
  /** ISO 8601, UTC: its first failure since it last succeeded. */
  since: string;
  /** When the endpoint is probed; until then at least, new deliveries to it wait. ISO 8601, UTC. Absent: none waits. */
  backoff_until?: string;
}

/** Why an attempt waits, and for how long. A Temporal payload. */
export interface HeldBack {
  kind: 'not_attempted';
  endpoint: 'failing' | 'busy';
  /** Failing: since when. ISO 8601, UTC. */
  since?: string;
  /** Busy: attempts that wait for its response. */
  in_flight?: number;
  /** Busy: as many as its owner allows at once, in all processes. */
  most?: number;
  /** Milliseconds. */
  look_again_ms: number;
}

/** Whether new deliveries wait. A probe that succeeds ends that, and so does a time without a probe. */
export function isOpen(mark: FailingMark | undefined, now: number): boolean {
  return mark !== undefined && endOf(mark) > now;
}

/** Whether deliveries may wait that are to be released once the mark is removed, even if it has run out by now. */
export function holdsBack(mark: FailingMark | undefined): boolean {
  return mark?.backoff_until !== undefined;
}

/** The breaker as it is opened: until the first probe. @param since the first failure, milliseconds since the epoch */
export function opened(since: number, probeIntervalMs: number, timings: Timings): FailingMark {
  const probedAt = since + probeWait(0, probeIntervalMs, timings);
  return { since: new Date(since).toISOString(), backoff_until: new Date(probedAt).toISOString() };
}

/** Why a first attempt waits, if the breaker is open. @param random from 0 up to 1 */
export function heldBack(
  mark: FailingMark | undefined,
  now: number,
  { missed_release_ms }: Timings,
  random: number,
): HeldBack | undefined {
  if (!mark || !isOpen(mark, now)) return undefined;
  const wait = endOf(mark) - now + missed_release_ms;
  const look_again_ms = Math.ceil(wait * (1 + MAX_JITTER * random));
  return { kind: 'not_attempted', endpoint: 'failing', since: mark.since, look_again_ms };
}

/**
 * The wait before the next probe, milliseconds.
 *
 * @param probes how many have been made
 * @param interval the wait before the first of the later probes; the early ones do not wait longer
 */
export function probeWait(probes: number, interval: number, { early_probes_ms } = TIMINGS): number {
  const early = early_probes_ms[probes];
  return early === undefined
    ? interval * Math.min(2 ** (probes - early_probes_ms.length), SLOWEST_PROBE)
    : Math.min(early, interval);
}

function endOf({ backoff_until = '' }: FailingMark): number {
  return Date.parse(backoff_until) + RENEWAL_MS;
}
