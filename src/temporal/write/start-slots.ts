/** A start that takes longer than this frees its slot, so that one slow call does not hold up everything else. Milliseconds. */
const SLOW_START_MS = 250;
/** At most this many slow starts run without a slot; a further one keeps its slot however long it takes. */
const MAX_SLOW_STARTS = 8;

/** Limits the start calls to Temporal that are in flight at once. If no slot is free, callers wait in the order of arrival. */
export class StartSlots {
  private free: number;
  private slow = 0;
  private readonly waiting: (() => void)[] = [];

  constructor(count: number) {
    this.free = count;
  }

  /** Makes a start in a slot, as soon as there is one. */
  async run<T>(start: () => Promise<T>): Promise<T> {
    await this.take();
    const giveBack = once(() => this.giveBack());
    let isSlow = false;
    const giveWay = setTimeout(() => {
      if (this.slow >= MAX_SLOW_STARTS) return;
      isSlow = true;
      this.slow += 1;
      giveBack();
    }, SLOW_START_MS);
    try {
      return await start();
    } finally {
      clearTimeout(giveWay);
      if (isSlow) this.slow -= 1;
      giveBack();
    }
  }

  private async take(): Promise<void> {
    if (this.free > 0) this.free -= 1;
    else await new Promise<void>((resolve) => this.waiting.push(resolve));
  }

  private giveBack(): void {
    const next = this.waiting.shift();
    if (next) next();
    else this.free += 1;
  }
}

function once(act: () => void): () => void {
  let isDone = false;
  return () => {
    if (isDone) return;
    isDone = true;
    act();
  };
}
