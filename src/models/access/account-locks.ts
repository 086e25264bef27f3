import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { queuesByKey } from '../../domain/basics/bounded-queue.js';
import { sharedDate, sharedNow } from '../../domain/time/shared-time.js';
import { collection, must, repositoryOf } from '../mongo/collection.js';
import { wasMade } from '../mongo/duplicate-key.js';

const locks = collection('account_locks', {
  /** Name of the lock. */
  _id: must(String),
  holder: must(String),
  /** After that, its holder is taken for dead. */
  until: must(Date),
});

/** Much longer than what is done under a lock can take, and than a request may, milliseconds. */
const HELD_MS = 30_000;
/** How often another process's lock is looked at, milliseconds: at least, and at most. */
const POLL_MS = { least: 5, most: 30 };

/**
 * Lets one request of an account at a time do what depends on what there is already, in all processes: a maximum that
 * is counted first would be exceeded by those that count at the same time.
 */
export class AccountLocks extends repositoryOf(locks) {
  /** Requests of one process wait here, and not at the database. Queues of so many accounts are remembered. */
  private readonly queueOf = queuesByKey(1, 10_000);

  /**
   * Does something while no other process does anything under the same lock.
   *
   * @param accountId whose lock it is
   * @param what is counted, such as `endpoints`
   */
  hold<T>(accountId: string, what: string, act: () => Promise<T>): Promise<T> {
    const name = `${accountId}:${what}`;
    return this.queueOf(name)(async () => {
      const holder = randomUUID();
      try {
        await this.take(name, holder);
      } catch (error) {
        // It may have been taken all the same.
        void this.giveBack(name, holder);
        throw error;
      }
      try {
        return await act();
      } finally {
        await this.giveBack(name, holder);
      }
    });
  }

  private async take(_id: string, holder: string): Promise<void> {
    for (;;) {
      const lock = { holder, until: new Date(sharedNow() + HELD_MS) };
      if (await wasMade(this.model.create({ _id, ...lock }))) return;
      const { modifiedCount } = await this.model.updateOne(
        { _id, until: { $lt: sharedDate() } },
        { $set: lock },
      );
      if (modifiedCount === 1) return;
      await delay(POLL_MS.least + Math.random() * (POLL_MS.most - POLL_MS.least));
    }
  }

  /** Gives a lock back; one that cannot be given back is taken from a holder that seems dead. */
  private async giveBack(_id: string, holder: string): Promise<void> {
    await this.model.deleteOne({ _id, holder }).catch(() => undefined);
  }
}
