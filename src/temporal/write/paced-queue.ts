import { setTimeout as delay } from 'node:timers/promises';
import pThrottle from 'p-throttle';

/** Those that wait under one name: each is told whether to go on. */
type Waiters = ((mayGoOn: boolean) => void)[];

/**
 * Lets those that wait go on, so many in a period: those that were promoted first, and otherwise in the order in which
 * they came. An item that leaves the queue costs the others nothing: in p-throttle, which paces it, a call that is
 * given up uses its turn, and the order is fixed.
 */
export class PacedQueue {
  /** Places, by name. */
  private readonly waiting = new Map<string, Waiters>();
  /** Names of those that wait and go first. */
  private readonly promoted = new Set<string>();
  /** Until when nobody goes on, as by `performance.now()`. */
  private restUntil = 0;
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
   * Waits at the end of the queue. An item that is already in the queue keeps the earlier place: all that wait under a
   * name go on together.
   *
   * @param name of who waits
   * @returns whether to go on: false if it left, or the queue was stopped
   */
  async wait(name: string): Promise<boolean> {
    if (this.stopping.signal.aborted) return false;
    const place = this.waiting.get(name) ?? [];
    this.waiting.set(name, place);
    if (!this.isServing) void this.serve();
    return new Promise((resolve) => place.push(resolve));
  }

  leave(name: string): void {
    this.call(name, false);
  }

  /** Moves a waiting item before all that were not promoted. */
  promote(name: string): void {
    if (this.waiting.has(name)) this.promoted.add(name);
  }

  /** Nobody goes on for so long, milliseconds. */
  rest(ms: number): void {
    this.restUntil = Math.max(this.restUntil, performance.now() + ms);
  }

  /** Nobody goes on from now on. */
  stop(): void {
    this.stopping.abort();
    for (const name of this.waiting.keys()) this.leave(name);
  }

  private async serve(): Promise<void> {
    this.isServing = true;
    while (this.waiting.size > 0) {
      // Rejects where it is stopped.
      await this.pace().catch(() => {});
      await this.rested();
      const [first] = this.promoted.size > 0 ? this.promoted : this.waiting.keys();
      if (first !== undefined) this.call(first, true);
    }
    this.isServing = false;
  }

  /** Waits for the end of the rest, which may become later meanwhile. */
  private async rested(): Promise<void> {
    const { signal } = this.stopping;
    for (;;) {
      const restMs = this.restUntil - performance.now();
      if (restMs <= 0 || signal.aborted) return;
      await delay(restMs, undefined, { signal }).catch(() => {});
    }
  }

  /** Takes one out of the queue. */
  private call(name: string, mayGoOn: boolean): void {
    for (const resolve of this.waiting.get(name) ?? []) resolve(mayGoOn);
    this.waiting.delete(name);
    this.promoted.delete(name);
  }
}
