import pLimit, { type LimitFunction } from 'p-limit';

/**
 * A start that takes longer than this frees its slot, so that one slow call does not hold up everything else.
 * Milliseconds.
 */
const SLOW_START_MS = 250;
/** At most this many slow starts run without a slot; a further one keeps its slot however long it takes. */
const MAX_SLOW_STARTS = 8;

/**
 * Limits the start calls to Temporal that are in flight at once. If no slot is free, callers wait in the order of
 * arrival.
 */
export class StartSlots {
  /** How many there are, while no start is slow. */
  readonly count: number;
  private readonly limit: LimitFunction;
  private slow = 0;

  constructor(count: number) {
    this.count = count;
    this.limit = pLimit(count);
  }

  /** Makes a start in a slot, as soon as there is one. */
  run<T>(start: () => Promise<T>): Promise<T> {
    return this.limit(async () => {
      let isSlow = false;
      const giveWay = setTimeout(() => {
        isSlow = this.slow < MAX_SLOW_STARTS;
        if (isSlow) this.countSlow(1);
      }, SLOW_START_MS);
      try {
        return await start();
      } finally {
        clearTimeout(giveWay);
        if (isSlow) this.countSlow(-1);
      }
    });
  }

  private countSlow(more: number): void {
    this.slow += more;
    this.limit.concurrency += more;
  }
}
