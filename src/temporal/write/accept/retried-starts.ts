import { setTimeout as delay } from 'node:timers/promises';

/** The wait before a start is tried again, which doubles from one to the next, and the longest. Milliseconds. */
const AGAIN = { firstMs: 100, longestMs: 5_000 };

/** Starts that are tried until Temporal takes them: their events are stored, so nothing else can become of them. */
export class RetriedStarts {
  private readonly stopping = new AbortController();
  private readonly onTrouble: (error: unknown) => void;

  /** @param onTrouble called with each error */
  constructor(onTrouble: (error: unknown) => void = () => {}) {
    this.onTrouble = onTrouble;
  }

  /**
   * Makes a start. It resolves when it is persisted, and never if this process stops before that: another one makes it.
   */
  async untilStarted(start: () => Promise<void>): Promise<void> {
    const { signal } = this.stopping;
    for (let waitMs = AGAIN.firstMs; ; waitMs = Math.min(2 * waitMs, AGAIN.longestMs)) {
      try {
        return await start();
      } catch (error) {
        if (!signal.aborted) this.onTrouble(error);
      }
      await delay(waitMs, undefined, { signal, ref: false }).catch(() => new Promise(() => {}));
    }
  }

  /** Nothing is tried again from now on. */
  stop(): void {
    this.stopping.abort();
  }
}
