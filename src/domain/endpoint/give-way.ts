/** A call is late if it takes more than so many times as long as the quickest one. */
const LATE_AFTER = 4;
/** After a late call, a rest is so many times as long as it took, but no longer than this, milliseconds. */
const REST_AFTER_LATE = 3;
const LONGEST_REST_MS = 1_000;

/**
 * How what is not urgent gives way to others: where its calls to Temporal take much longer than the quickest of them
 * did, this machine or Temporal is busy, and what everybody else sends waits there, too. TCP Vegas finds congestion in
 * the same way, by delay (Brakmo and Peterson, 1995).
 */
export class GiveWay {
  private quickestMs = Number.POSITIVE_INFINITY;

  /** @returns how long to rest after a call that took so long, milliseconds: 0 if it was not late */
  restAfter(tookMs: number): number {
    this.quickestMs = Math.min(this.quickestMs, tookMs);
    return tookMs > LATE_AFTER * this.quickestMs ? Math.min(REST_AFTER_LATE * tookMs, LONGEST_REST_MS) : 0;
  }
}
