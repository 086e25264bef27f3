import pLimit from 'p-limit';
import { queuesByKey } from '../basics/bounded-queue.js';
import type { Owner } from './owner.js';

/** Accounts and platforms whose turns are remembered, of those that were active last. */
const MAX_REMEMBERED = 20_000;

/**
 * Runs work in turns: platforms take turns, and so do the accounts of each. An account has one piece of work in the
 * queue of its platform, and a platform one in the queue of all, so one that has much to do delays others by one.
 *
 * @param running how many run at once, each for another platform
 */
export function inTurns(running: number): <T>(owner: Owner, work: () => Promise<T>) => Promise<T> {
  const all = pLimit(running);
  const [platforms, accounts] = [queuesByKey(1, MAX_REMEMBERED), queuesByKey(1, MAX_REMEMBERED)];
  return ({ account, platform }, work) => accounts(account)(() => platforms(platform)(() => all(work)));
}
