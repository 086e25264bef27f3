import { type Connection, type Model, Schema } from 'mongoose';
import { isDuplicateKey } from '../mongo/duplicate-key.js';

/** A reference that is taken. */
interface ReferenceDocument {
  /** Platform and reference. */
  _id: string;
  account_id: string;
  at: Date;
}

const schema = new Schema<ReferenceDocument>(
  { _id: String, account_id: { type: String, required: true }, at: { type: Date, required: true } },
  { versionKey: false },
);

/** A claim that no account has taken up by now was left by a crash, milliseconds. */
const CLAIM_MS = 60_000;

/** The references by which platforms call their accounts, each once: unique by `_id`, which holds on every server. */
export class AccountReferences {
  private readonly model: Model<ReferenceDocument>;

  constructor(connection: Connection) {
    this.model = connection.model<ReferenceDocument>('account_reference', schema, 'account_references');
  }

  /** The account that has claimed a reference. It has the reference only if it says so itself. */
  async holder(key: string): Promise<string | undefined> {
    return (await this.model.findById(key).lean())?.account_id;
  }

  /**
   * Claims a reference for an account.
   *
   * @param holds whether an account that claimed it earlier has it
   * @returns whether it was free
   */
  async claim(
    key: string,
    account_id: string,
    holds: (accountId: string) => Promise<boolean>,
  ): Promise<boolean> {
    try {
      await this.model.create({ _id: key, account_id, at: new Date() });
      return true;
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
    }
    const earlier = await this.model.findById(key).lean();
    if (!earlier) return this.claim(key, account_id, holds);
    if (earlier.account_id === account_id) return true;
    const isBeingTaken = earlier.at.getTime() > Date.now() - CLAIM_MS;
    if (isBeingTaken || (await holds(earlier.account_id))) return false;
    const { modifiedCount } = await this.model.updateOne(
      { _id: key, account_id: earlier.account_id },
      { $set: { account_id, at: new Date() } },
    );
    return modifiedCount === 1;
  }

  /** Gives a reference back. */
  async release(key: string, account_id: string): Promise<void> {
    await this.model.deleteOne({ _id: key, account_id });
  }
}
