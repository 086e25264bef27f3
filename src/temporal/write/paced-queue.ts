import pThrottle from 'p-throttle';

/** Lets those that wait go on in the order in which they came, so many in a period. Who leaves the queue costs the others nothing. */
export class PacedQueue {
  /** Told whether they may go on, by name. */
  private readonly waiting = new Map<string, (mayGoOn: boolean) => void>();
  private readonly stopping = new AbortController();
  private readonly pace: () => Promise<void>;
  private isServing = false;

  /**
   * @param most that go on in a period
   * @param periodMs milliseconds
   */
  constructor(most: number, periodMs: number) {
    const { signal } = this.stopping;
    this.pace = pThrottle({ limit: most, interval: periodMs, signal })(async () => {});
  }

  /**
   * Waits at the end of the queue. Who is in it already leaves the earlier place.
   *
   * @param name of who waits
   * @returns whether to go on: false if it left, or the queue was stopped
   */
  async wait(name: string): Promise<boolean> {
    if (this.stopping.signal.aborted) return false;
    this.leave(name);
    const called = new Promise<boolean>((resolve) => this.waiting.set(name, resolve));
    if (!this.isServing) void this.serve();
    return called;
  }

  leave(name: string): void {
    this.waiting.get(name)?.(false);
    this.waiting.delete(name);
  }

  /** Nobody goes on any more. */
  stop(): void {
    this.stopping.abort();
    for (const name of this.waiting.keys()) this.leave(name);
  }

  private async serve(): Promise<void> {
    this.isServing = true;
    while (this.waiting.size > 0) {
      // Rejects where it is stopped.
      await this.pace().catch(() => {});
      const [first] = this.waiting;
      if (!first) break;
      const [name, call] = first;
      this.waiting.delete(name);
      call(true);
    }
    this.isServing = false;
  }
}
