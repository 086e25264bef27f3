import type { Model } from 'mongoose';
import pLimit from 'p-limit';
import { newId } from '../../domain/basics/ids.js';
import { withTimeout } from '../../domain/basics/with-timeout.js';
import type { Change, ChangeOutcome } from '../../domain/change/change.js';
import { sharedDate, sharedNow } from '../../domain/time/shared-time.js';
import { inOrder } from '../mongo/in-order.js';
import { type ChangeDocument, toChange } from './change-document.js';
import type { ChangeSeal } from './change-seal.js';

/** Acts that are looked into at once. */
const LOOKS_AT_ONCE = 8;
/** Time that a reader of changes waits until those without an outcome have one, milliseconds. */
const READER_WAITS_MS = 2_000;

/**
 * Finds out how an act ended. `undefined`: that cannot be told yet, because it may still be done.
 *
 * @throws if Temporal cannot be asked
 */
export type FindOutcome = (accountId: string, change: Change) => Promise<ChangeOutcome | undefined>;

/**
 * How acts ended that are recorded before they are done: what those say who did them, or else what they were done to.
 */
export class Outcomes {
  private readonly model: Model<ChangeDocument>;
  private readonly seal: ChangeSeal;
  private readonly settlesMs: number;
  private find: FindOutcome | undefined;

  /** @param settlesMs after so long nobody does the act any more who recorded it, unless a replay repeats it */
  constructor(model: Model<ChangeDocument>, seal: ChangeSeal, settlesMs: number) {
    this.model = model;
    this.seal = seal;
    this.settlesMs = settlesMs;
  }

  /** Sets the function that finds outcomes. Without it, acts stay unknown in what this process reads. */
  findBy(find: FindOutcome): void {
    this.find = find;
  }

  /**
   * Records outcomes as reported by the process that did the acts. One that was late, so that its act was found undone,
   * is recorded as another act: the log may have the first.
   */
  async ended(acts: readonly ChangeDocument[], outcomes: readonly ChangeOutcome[]): Promise<void> {
    if ((await this.record(acts, outcomes)) === acts.length) return;
    const done = acts.filter((_, at) => outcomes[at] === 'done');
    const _id = { $in: done.map((act) => act._id) };
    const undone = await this.model.find({ _id, outcome: 'refused' }, { _id: 1 }).lean();
    const late = new Set(undone.map((one) => one._id));
    for (const act of done.filter((one) => late.has(one._id))) {
      const at = sharedDate();
      const again = { ...act, _id: newId('change', at.getTime()), at, outcome: 'done' as const };
      await this.model.create({ ...again, tag: this.seal.tag(again) });
    }
  }

  /** Records outcomes of acts, unless they have one. @returns how many had none */
  private async record(acts: readonly ChangeDocument[], outcomes: readonly ChangeOutcome[]): Promise<number> {
    if (acts.length === 0) return 0;
    const { matchedCount } = await this.model.bulkWrite(
      acts.map((act, at) => {
        const outcome = outcomes[at] ?? 'unknown';
        const tag = this.seal.tag({ ...act, outcome });
        const update = { $set: { outcome, ...(tag !== undefined && { tag }) } };
        return { updateOne: { filter: { _id: act._id, outcome: 'pending' }, update } };
      }),
      { ordered: false },
    );
    return matchedCount;
  }

  /**
   * The same documents, in which acts have an outcome that can be told by now. It does not fail, and keeps no reader
   * waiting long.
   */
  async settled(documents: readonly ChangeDocument[]): Promise<readonly ChangeDocument[]> {
    const pending = documents.filter((document) => this.isDue(document));
    if (pending.length === 0 || !this.find) return documents;
    const found = await withTimeout(READER_WAITS_MS, this.settle(pending)).catch(() => undefined);
    return found ? documents.map((document) => found.get(document._id) ?? document) : documents;
  }

  /**
   * Finds out how all acts ended that have no outcome yet, as far as that can be told.
   *
   * @throws if Temporal cannot be asked
   */
  async settleAll(): Promise<void> {
    if (!this.find) return;
    const due = (_id: object) => this.model.find({ outcome: 'pending', at: { $lt: this.dueBefore() }, _id });
    for await (const pending of inOrder(due)) await this.settle(pending);
  }

  private isDue({ outcome, at }: ChangeDocument): boolean {
    return outcome === 'pending' && at < this.dueBefore();
  }

  private dueBefore(): Date {
    return new Date(sharedNow() - this.settlesMs);
  }

  /** @returns those that have an outcome now, by id */
  private async settle(acts: readonly ChangeDocument[]): Promise<Map<string, ChangeDocument>> {
    const limit = pLimit(LOOKS_AT_ONCE);
    // An altered change gets no new tag.
    const pending = acts.filter((act) => this.seal.whatIsWrong(act) === undefined);
    const looked = await Promise.allSettled(
      pending.map((act) => limit(async () => this.find?.(act.account_id, toChange(act)))),
    );
    const told = pending.flatMap((act, at) => {
      const look = looked[at];
      return look?.status === 'fulfilled' && look.value ? [{ act, outcome: look.value }] : [];
    });
    await this.record(
      told.map(({ act }) => act),
      told.map(({ outcome }) => outcome),
    );
    // Somebody else may have been faster.
    const known = await this.model
      .find({ _id: { $in: told.map(({ act }) => act._id) } })
      .lean<ChangeDocument[]>();
    const failed = looked.find((look) => look.status === 'rejected');
    if (failed) throw failed.reason;
    return new Map(known.map((document) => [document._id, document]));
  }
}
