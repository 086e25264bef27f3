import type { Timings } from '../../timings.js';
import { BACKOFF_AFTER_FAILURES } from './circuit-breaker.js';
import type { FailureReport } from './incident.js';

/** From so many failures on, they are reported soon. */
const REPORT_SOON_AFTER = BACKOFF_AFTER_FAILURES / 2;
/** An attempt begins at most so long after its endpoint was read, milliseconds: it may wait for a slot. */
const READ_BEFORE_MS = 5_000;
/** Nothing is kept for longer than this part of the time between probes. */
const REPORTS_PER_PROBE = 2;

interface FailureSettings {
  probeIntervalMs: number;
  timings: Timings;
}

/**
 * Failures of an endpoint in a row, as one process has seen them: those that its incident has heard of, and those that
 * are still to be reported. Times are milliseconds since the epoch.
 */
export class FailureCount {
  /** The first failure. */
  readonly since: number;
  private reported = 0;
  private unreported = 0;
  private over = false;
  private last: Pick<FailureReport, 'said' | 'attempt'> = { said: '' };
  private lastAt = 0;
  /** When the latest attempt began that found the endpoint marked as failing. */
  private markedAt = Number.POSITIVE_INFINITY;

  constructor(since: number) {
    this.since = since;
  }

  /** @param said what the attempt came to, human-readable @param attempt `attemptName` */
  add(said: string, attempt: string | undefined, now: number): void {
    this.unreported += 1;
    this.last = { said, ...(attempt !== undefined && { attempt }) };
    this.lastAt = now;
  }

  /**
   * An attempt has failed.
   *
   * @param isMarked whether it found the endpoint marked as failing
   * @returns whether the failures before it are of an incident that is over, as another process has found: the mark
   * that they found is gone
   */
  isEndedBy(began: number, isMarked: boolean): boolean {
    if (isMarked) this.markedAt = began;
    return !isMarked && began > this.markedAt + READ_BEFORE_MS;
  }

  /**
   * Nothing is added from now on, and nothing is reported but what precedes a success: the endpoint took an attempt, or
   * no report could be sent.
   */
  end(): void {
    this.over = true;
  }

  get isOver(): boolean {
    return this.over;
  }

  /** Whether the latest failure is the one that opens the circuit breaker: deliveries wait from now on. */
  get opensBreaker(): boolean {
    return this.reported + this.unreported === BACKOFF_AFTER_FAILURES;
  }

  /** Whether deliveries are about to wait, and the incident has not heard that yet. */
  get isUrgent(): boolean {
    const { reported, unreported } = this;
    return reported < BACKOFF_AFTER_FAILURES && reported + unreported >= BACKOFF_AFTER_FAILURES;
  }

  /** Whether there is anything to report. */
  get isBehind(): boolean {
    return this.unreported > 0;
  }

  /**
   * How long a report waits for further failures, milliseconds; 0: the first one, and the one that has deliveries wait.
   */
  reportWaitMs({ probeIntervalMs, timings }: FailureSettings): number {
    const { reported, unreported } = this;
    if (reported === 0 || this.isUrgent) return 0;
    const isSoon = reported + unreported >= REPORT_SOON_AFTER;
    const few = isSoon ? timings.report_soon_ms : timings.report_few_ms;
    const longest = reported >= BACKOFF_AFTER_FAILURES ? timings.report_many_ms : few;
    return Math.min(longest, probeIntervalMs / REPORTS_PER_PROBE);
  }

  /** Takes the failures that have not been reported. From then on they count as reported. */
  takeReport(now: number): FailureReport {
    const count = this.unreported;
    const opens = this.isUrgent && { opens_breaker: true as const };
    this.reported += count;
    this.unreported = 0;
    return { count, ...this.last, ago_ms: Math.max(now - this.lastAt, 0), ...opens };
  }
}
