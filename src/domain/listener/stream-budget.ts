/** Bytes that the programs of one account may send a process over their streams in a second, all together. */
const BYTES_PER_SECOND = 1024 * 1024;
/** How much of that may come at once, after a quiet time. */
const BURST_BYTES = 4 * BYTES_PER_SECOND;
/** Cost of a message besides its bytes, whatever its length: parsing it, and waking its waiter. */
export const MESSAGE_COST = 1_024;

/**
 * Budget that the streams of one account share. A stream that overspends waits until the deficit is gone, so nothing is
 * lost: TCP makes the program wait. Token buckets of libraries cannot be overdrawn, but the size of a message is known
 * only when it has arrived.
 */
export class StreamBudget {
  private readonly perSecond: number;
  private readonly burst: number;
  private left: number;
  private at = 0;

  constructor(perSecond = BYTES_PER_SECOND, burst = BURST_BYTES) {
    this.perSecond = perSecond;
    this.burst = burst;
    this.left = burst;
  }

  /** @param now milliseconds since the epoch @returns how long not to read on, milliseconds; 0: go on */
  spend(bytes: number, now: number): number {
    const earned = (Math.max(0, now - this.at) / 1_000) * this.perSecond;
    this.left = Math.min(this.burst, this.left + earned) - bytes;
    this.at = now;
    return this.left >= 0 ? 0 : Math.ceil((-this.left / this.perSecond) * 1_000);
  }
}
