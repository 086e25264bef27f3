import pThrottle from 'p-throttle';
import { VisibilityBusyError } from '../errors.js';

/**
 * A call waits for so long at most, seconds: less than the 30 s within which some activities must show that they get
 * on.
 */
const MAX_WAIT_S = 20;

/** Observer of calls that list or count. */
export interface VisibilityObserver {
  /** A call was made. @param seconds its wait before that */
  waited(seconds: number): void;
  /** A call would have waited too long, and was not made. */
  refused(): void;
}

/**
 * Makes the calls of a process that list or count executions in the order in which they come, so many in a second: the
 * room that a namespace has for them (https://docs.temporal.io/cloud/limits#visibility-api-rate-limit). No request of
 * an account makes such a call, so no account can use up the room of another.
 */
export class VisibilityPace {
  observer: VisibilityObserver | undefined;
  private readonly perSecond: number;
  private readonly turn: ReturnType<ReturnType<typeof pThrottle>>;

  constructor(perSecond: number) {
    this.perSecond = perSecond;
    // In every second, not in each: a server that refills its bucket steadily would refuse the end of two bursts.
    this.turn = pThrottle({ limit: perSecond, interval: 1_000, strict: true })(async () => {});
  }

  /** Makes a call when it is its turn. @throws VisibilityBusyError if it would wait too long */
  async ask<T>(call: () => Promise<T>): Promise<T> {
    if (this.turn.queueSize >= this.perSecond * MAX_WAIT_S) {
      this.observer?.refused();
      throw new VisibilityBusyError(this.perSecond);
    }
    const askedAt = performance.now();
    await this.turn();
    this.observer?.waited((performance.now() - askedAt) / 1_000);
    return call();
  }
}
