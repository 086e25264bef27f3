import { randomBytes } from 'node:crypto';
import { UNITS } from '../../domain/basics/duration.js';
import {
  type End,
  type EndNotice,
  MAX_ENDS_TOLD,
  type UnannouncedEnds,
} from '../../domain/delivery/end-notice.js';
import { recordedTime } from '../../domain/time/recorded-time.js';
import { sharedDate, sharedNow } from '../../domain/time/shared-time.js';
import { collection, may, must, repositoryOf } from '../mongo/collection.js';
import { insertMissing } from '../mongo/insert-missing.js';

/** Stands in the place of a notice once it was told. */
const TOLD = '';
/** An end that was told is remembered for so long, milliseconds: after a crash it is noted once more, with the row. */
const REMEMBERED_MS = UNITS.h;

const ends = collection(
  'unannounced_ends',
  {
    /** Delivery and run, so that an end that is noted twice is told once. */
    _id: must(String),
    account_id: must(String),
    endpoint_id: must(String),
    kind: must<End['kind']>(String),
    delivery_id: must(String),
    event_id: must(String),
    event_kind: must(String),
    closed_at: must(Date),
    run_id: must(String),
    /** The notice that tells of it, and when it was put together; absent before that. */
    notice: may(String, { index: true }),
    notice_at: may(Date),
    /** How long what was told is remembered. */
    forgotten_at: may(Date, { expires: 0 }),
  },
  { indexes: [{ account_id: 1, endpoint_id: 1, kind: 1, notice: 1 }] },
);

/** Deliveries that have ended without success and that their accounts have not been told of. */
export class EndRepository extends repositoryOf(ends) implements UnannouncedEnds {
  async note(some: readonly End[]): Promise<void> {
    if (some.length === 0) return;
    await insertMissing(
      this.model,
      some.map((end) => ({ _id: idOf(end), ...end })),
    );
  }

  async withdraw(some: readonly End[]): Promise<void> {
    await this.model.deleteMany({ _id: { $in: some.map(idOf) }, notice: null });
  }

  /**
   * The next notice: one that was put together before, so that a repeat after a crash sends the same; `undefined` if
   * nothing is left.
   */
  async next(): Promise<EndNotice | undefined> {
    const begun = await this.model.findOne({ notice: { $gt: TOLD } }).lean();
    if (begun?.notice) return this.noticeOf(begun.notice);
    const first = await this.model.findOne({ notice: null }).lean();
    if (!first) return undefined;
    const { account_id, endpoint_id, kind } = first;
    const together = await this.model
      .find({ account_id, endpoint_id, kind, notice: null }, { _id: 1 })
      .limit(MAX_ENDS_TOLD)
      .lean();
    const notice = randomBytes(12).toString('hex');
    // If two runs do this at once, only one reports it.
    await this.model.updateMany(
      { _id: { $in: together.map(({ _id }) => _id) }, notice: null },
      { $set: { notice, notice_at: sharedDate() } },
    );
    return this.noticeOf(notice);
  }

  private async noticeOf(notice: string): Promise<EndNotice | undefined> {
    const told = await this.model.find({ notice }).lean();
    const [first] = told;
    if (!first) return undefined;
    const { account_id, endpoint_id, kind, notice_at } = first;
    return {
      name: notice,
      at: recordedTime(notice_at ?? new Date(0)),
      account_id,
      endpoint_id,
      kind,
      ends: told,
    };
  }

  async told({ name }: EndNotice): Promise<void> {
    const forgotten_at = new Date(sharedNow() + REMEMBERED_MS);
    await this.model.updateMany({ notice: name }, { $set: { notice: TOLD, forgotten_at } });
  }
}

function idOf({ delivery_id, run_id }: End): string {
  return `${delivery_id}:${run_id}`;
}
