import { setTimeout as delay } from 'node:timers/promises';
import { Problem } from '../../../domain/http/problem.js';
import type { Context } from '../../http/context.js';

/** The longest that a request may wait for events, seconds. */
export const MAX_WAIT_S = 25;
/** Requests that may wait in a process at once, of an account and of all. */
export const MAX_WAITS = { account: 10, process: 200 };
/** How often a request that waits looks for events, milliseconds. */
const LOOK_EVERY_MS = 500;

/** Requests that wait for something. */
export class Waits {
  private readonly of = new Map<string, number>();
  private all = 0;

  /**
   * Reads until there is something, or the time is over, or its client or the process is going.
   *
   * @param look resolves to whether it was the last time
   * @throws Problem 429 if too many wait already
   */
  async until(
    ctx: Context,
    accountId: string,
    waitMs: number,
    stopping: AbortSignal,
    look: () => Promise<boolean>,
  ) {
    const deadline = performance.now() + waitMs;
    if (await look()) return;
    const gone = AbortSignal.any([stopping, closed(ctx)]);
    const left = () => Math.min(LOOK_EVERY_MS, deadline - performance.now());
    if (left() <= 0) return;
    this.enter(accountId);
    ctx.state.isWaiting = true;
    try {
      while (left() > 0 && !gone.aborted) {
        await delay(left(), undefined, { signal: gone }).catch(() => {});
        if (await look()) return;
      }
    } finally {
      ctx.state.isWaiting = false;
      this.leave(accountId);
    }
  }

  private enter(accountId: string): void {
    const own = this.of.get(accountId) ?? 0;
    if (own >= MAX_WAITS.account || this.all >= MAX_WAITS.process)
      throw new Problem(
        'feed_wait_limit_reached',
        own >= MAX_WAITS.account
          ? `${MAX_WAITS.account} requests of the account wait for events already.`
          : 'Too many requests wait for events here.',
      );
    this.of.set(accountId, own + 1);
    this.all += 1;
  }

  private leave(accountId: string): void {
    const own = (this.of.get(accountId) ?? 1) - 1;
    if (own > 0) this.of.set(accountId, own);
    else this.of.delete(accountId);
    this.all -= 1;
  }
}

function closed({ res }: Context): AbortSignal {
  const gone = new AbortController();
  res.once('close', () => gone.abort());
  return gone.signal;
}
