import { UNITS } from '../../domain/basics/duration.js';
import { sharedDate, sharedNow } from '../../domain/time/shared-time.js';
import { collection, must, repositoryOf } from '../mongo/collection.js';
import { wasMade } from '../mongo/duplicate-key.js';

/** The references that are taken. */
const references = collection('account_references', {
  /** Platform and reference. */
  _id: must(String),
  account_id: must(String),
  at: must(Date),
});

/** A claim that no account has taken up by now was left by a crash, milliseconds. */
const CLAIM_MS = UNITS.m;

/** The references by which platforms call their accounts, each once: unique by `_id`, which holds on every server. */
export class AccountReferences extends repositoryOf(references) {
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
    if (await wasMade(this.model.create({ _id: key, account_id, at: sharedDate() }))) return true;
    const earlier = await this.model.findById(key).lean();
    if (!earlier) return this.claim(key, account_id, holds);
    if (earlier.account_id === account_id) return true;
    const isBeingTaken = earlier.at.getTime() > sharedNow() - CLAIM_MS;
    if (isBeingTaken || (await holds(earlier.account_id))) return false;
    const { modifiedCount } = await this.model.updateOne(
      { _id: key, account_id: earlier.account_id },
      { $set: { account_id, at: sharedDate() } },
    );
    return modifiedCount === 1;
  }

  /** Gives a reference back. */
  async release(key: string, account_id: string): Promise<void> {
    await this.model.deleteOne({ _id: key, account_id });
  }
}
