import pThrottle from 'p-throttle';

/** Hands out turns, so many in a period, in the order in which they were asked for. A turn that is given up costs none. */
export class Turns {
  /** Told whether their turn has come, by who asked. */
  private readonly waiting = new Map<string, (hasCome: boolean) => void>();
  private readonly stopping = new AbortController();
  private readonly next: () => Promise<void>;
  private isServing = false;

  /**
   * @param most turns in a period
   * @param periodMs milliseconds
   */
  constructor(most: number, periodMs: number) {
    const { signal } = this.stopping;
    this.next = pThrottle({ limit: most, interval: periodMs, signal })(async () => {});
  }

  /**
   * Waits for a turn. Who asks again gives up the earlier one.
   *
   * @param name of who asks
   * @returns whether it has come: false if it was given up
   */
  async take(name: string): Promise<boolean> {
    if (this.stopping.signal.aborted) return false;
    this.giveUp(name);
    const turn = new Promise<boolean>((resolve) => this.waiting.set(name, resolve));
    if (!this.isServing) void this.serve();
    return turn;
  }

  giveUp(name: string): void {
    this.waiting.get(name)?.(false);
    this.waiting.delete(name);
  }

  /** Gives up all of them, and those that are still asked for. */
  stop(): void {
    this.stopping.abort();
    for (const name of this.waiting.keys()) this.giveUp(name);
  }

  private async serve(): Promise<void> {
    this.isServing = true;
    while (this.waiting.size > 0) {
      // Rejects where it is stopped.
      await this.next().catch(() => {});
      const [first] = this.waiting;
      if (!first) break;
      const [name, tell] = first;
      this.waiting.delete(name);
      tell(true);
    }
    this.isServing = false;
  }
}
