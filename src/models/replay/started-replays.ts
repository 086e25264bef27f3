import { type Connection, type Model, Schema } from 'mongoose';
import type { AccountLocks } from '../access/account-locks.js';

interface StartedDocument {
  /** The replay. */
  _id: string;
  account_id: string;
  at: Date;
}

/** How long it is remembered that a replay was started, seconds: far longer than Temporal takes to list it. */
const REMEMBERED_S = 60;

const schema = new Schema<StartedDocument>(
  {
    _id: String,
    account_id: { type: String, required: true, index: true },
    at: { type: Date, required: true, expires: REMEMBERED_S },
  },
  { versionKey: false },
);

/** The replays that were started of late, as all processes see them: Temporal lists one a moment after it was started. */
export class StartedReplays {
  private readonly model: Model<StartedDocument>;
  private readonly locks: AccountLocks;

  constructor(connection: Connection, locks: AccountLocks) {
    this.model = connection.model<StartedDocument>('started_replay', schema, 'started_replays');
    this.locks = locks;
  }

  /** Does something while no process starts a replay of the account. */
  alone<T>(accountId: string, act: () => Promise<T>): Promise<T> {
    return this.locks.hold(accountId, 'replays', act);
  }

  /** Those that are remembered, with when they were started. */
  async of(accountId: string): Promise<{ id: string; at: Date }[]> {
    const since = new Date(Date.now() - REMEMBERED_S * 1_000);
    const found = await this.model.find({ account_id: accountId, at: { $gt: since } }).lean();
    return found.map(({ _id, at }) => ({ id: _id, at }));
  }

  async add(accountId: string, replayId: string): Promise<void> {
    await this.model.create({ _id: replayId, account_id: accountId, at: new Date() });
  }

  /** Forgets some. */
  async remove(replayIds: readonly string[]): Promise<void> {
    if (replayIds.length > 0) await this.model.deleteMany({ _id: { $in: replayIds } });
  }
}
