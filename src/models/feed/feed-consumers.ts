import type { Connection } from 'mongoose';
import { sharedDate } from '../../domain/time/shared-time.js';
import type { AccountLocks } from '../access/account-locks.js';
import { collection, must, repositoryOf } from '../mongo/collection.js';

/** How many consumers an account may have. */
export const MAX_CONSUMERS = 50;

const consumers = collection('feed_consumers', {
  /** Account and name. */
  _id: must(String),
  account_id: must(String, { index: true }),
  name: must(String),
  position: must(String, { required: false, default: '' }),
  updated_at: must(Date),
});

/** Somebody who reads a feed, and how far everything was dealt with. */
export interface FeedConsumer {
  name: string;
  /** Empty: at the beginning. */
  position: string;
  updated_at: Date;
}

const idOf = (accountId: string, name: string) => `${accountId}/${name}`;

/** Consumers of feeds. */
export class FeedConsumerRepository extends repositoryOf(consumers) {
  private readonly locks: AccountLocks;

  constructor(connection: Connection, locks: AccountLocks) {
    super(connection);
    this.locks = locks;
  }

  async get(accountId: string, name: string): Promise<FeedConsumer | undefined> {
    return (await this.model.findById(idOf(accountId, name)).lean()) ?? undefined;
  }

  /** All of an account, by name. */
  async list(accountId: string): Promise<FeedConsumer[]> {
    return this.model.find({ account_id: accountId }).sort({ name: 1 }).limit(MAX_CONSUMERS).lean();
  }

  /** Keeps a position, also an earlier one. @returns `undefined` if the account has as many consumers as it may */
  async put(accountId: string, name: string, position: string): Promise<FeedConsumer | undefined> {
    const _id = idOf(accountId, name);
    const kept = { name, position, updated_at: sharedDate() };
    if ((await this.model.updateOne({ _id }, { $set: kept })).matchedCount > 0) return kept;
    return this.locks.hold(accountId, 'feed_consumers', async () => {
      if ((await this.model.countDocuments({ account_id: accountId })) >= MAX_CONSUMERS) return undefined;
      await this.model.updateOne({ _id }, { $set: { ...kept, account_id: accountId } }, { upsert: true });
      return kept;
    });
  }

  async delete(accountId: string, name: string): Promise<boolean> {
    return (await this.model.deleteOne({ _id: idOf(accountId, name) })).deletedCount > 0;
  }

  /** Removes all of an account that is deleted. */
  async removeAll(accountId: string): Promise<void> {
    await this.model.deleteMany({ account_id: accountId });
  }
}
