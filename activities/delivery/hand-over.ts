import type { AttemptReport } from '../../src/domain/attempt/attempt-report.js';
import { temporalClock } from '../../src/domain/time/shared-time.js';
import type { Reports } from '../records/attempt-rows.js';

/** When the attempts of this process ended, by `performance.now()`. */
const ends = new WeakMap<AttemptReport, number>();

/** Notes that the attempt of a report has just ended. @returns the report */
export function ended(report: AttemptReport): AttemptReport {
  ends.set(report, performance.now());
  return report;
}

/** How long ago the attempt of a report ended in this process, milliseconds. */
export function sinceEnd(report: AttemptReport): number {
  const now = performance.now();
  return now - (ends.get(report) ?? now);
}

/**
 * Reports as a workflow gets them together, when the last of the attempts has ended: what an earlier one is to wait is
 * counted from then, so that it waits no longer than it was asked to.
 */
export function handOver(reports: Readonly<Reports>, settledAt?: number): Reports {
  return reports.map((report) => {
    if (!report) return null;
    return { ...since(report, sinceEnd(report)), ...(settledAt !== undefined && { ended_at: settledAt }) };
  });
}

/**
 * Makes attempts in a local activity. The workflow's clock stands still around it, so the reports say when it ended.
 *
 * @param askedAt the workflow's time when it asked for them, milliseconds since the epoch
 * @param make gets a clock that shows the workflow's time
 */
export async function timed(
  askedAt: number,
  make: (now: () => number) => Promise<Reports>,
): Promise<Reports> {
  const now = clockFrom(askedAt);
  return handOver(await make(now), now());
}

/**
 * A clock that shows the workflow's time during an activity, at the latest: the activity may have waited before, here
 * or on its way, and a time that is too early leads to an early retry.
 *
 * @param at time of Temporal that the activity brings, milliseconds since the epoch
 */
export function clockFrom(at: number): () => number {
  temporalClock.read(at);
  const began = performance.now();
  return () => Math.max(Math.ceil(at + performance.now() - began), temporalClock.latest());
}

/** A report whose waits are shorter by what has passed of them, milliseconds. */
function since(report: AttemptReport, passed: number): AttemptReport {
  const left = (ms: number) => Math.max(Math.ceil(ms - passed), 0);
  if (report.kind === 'deferred') return { ...report, wait_ms: left(report.wait_ms) };
  if ('look_again_ms' in report && report.look_again_ms !== undefined)
    return { ...report, look_again_ms: left(report.look_again_ms) };
  if (report.kind === 'attempted' && report.retry_after_ms !== undefined)
    return { ...report, retry_after_ms: left(report.retry_after_ms) };
  return report;
}
