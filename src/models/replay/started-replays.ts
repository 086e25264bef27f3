import type { Connection } from 'mongoose';
import { sharedDate, sharedNow } from '../../domain/time/shared-time.js';
import type { AccountLocks } from '../access/account-locks.js';
import { collection, must, repositoryOf } from '../mongo/collection.js';

/** How long it is remembered that a replay was started, seconds: far longer than Temporal takes to list it. */
const REMEMBERED_S = 60;

const startedReplays = collection('started_replays', {
  /** The replay. */
  _id: must(String),
  account_id: must(String, { index: true }),
  at: must(Date, { expires: REMEMBERED_S }),
});

/**
 * The replays that were started of late, as all processes see them: Temporal lists one a moment after it was started.
 */
export class StartedReplays extends repositoryOf(startedReplays) {
  private readonly locks: AccountLocks;

  constructor(connection: Connection, locks: AccountLocks) {
    super(connection);
    this.locks = locks;
  }

  /** Does something while no process starts a replay of the account. */
  alone<T>(accountId: string, act: () => Promise<T>): Promise<T> {
    return this.locks.hold(accountId, 'replays', act);
  }

  /** Those that are remembered, with when they were started. */
  async of(accountId: string): Promise<{ id: string; at: Date }[]> {
    const since = new Date(sharedNow() - REMEMBERED_S * 1_000);
    const found = await this.model.find({ account_id: accountId, at: { $gt: since } }).lean();
    return found.map(({ _id, at }) => ({ id: _id, at }));
  }

  async add(accountId: string, replayId: string): Promise<void> {
    await this.model.create({ _id: replayId, account_id: accountId, at: sharedDate() });
  }

  /** Forgets some. */
  async remove(replayIds: readonly string[]): Promise<void> {
    if (replayIds.length > 0) await this.model.deleteMany({ _id: { $in: replayIds } });
  }
}
