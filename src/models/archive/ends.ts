import { randomBytes } from 'node:crypto';
import { type Connection, type Model, Schema } from 'mongoose';
import {
  type End,
  type EndNotice,
  MAX_ENDS_TOLD,
  type UnannouncedEnds,
} from '../../domain/delivery/end-notice.js';
import { insertMissing } from '../mongo/insert-missing.js';

interface EndDocument extends End {
  /** Delivery and run, so that an end that is noted twice is told once. */
  _id: string;
  /** The notice that tells of it, and when that was put together; absent until then. */
  notice?: string | null;
  notice_at?: Date | null;
}

const required = true;
const schema = new Schema<EndDocument>(
  {
    _id: String,
    account_id: { type: String, required },
    endpoint_id: { type: String, required },
    kind: { type: String, required },
    delivery_id: { type: String, required },
    event_id: { type: String, required },
    event_kind: { type: String, required },
    closed_at: { type: Date, required },
    run_id: { type: String, required },
    notice: String,
    notice_at: Date,
  },
  { versionKey: false },
);
schema.index({ account_id: 1, endpoint_id: 1, kind: 1, notice: 1 });
schema.index({ notice: 1 });

/** Deliveries that have ended without success and that their accounts have not been told of. */
export class EndRepository implements UnannouncedEnds {
  private readonly model: Model<EndDocument>;

  constructor(connection: Connection) {
    this.model = connection.model<EndDocument>('unannounced_end', schema, 'unannounced_ends');
  }

  async note(ends: readonly End[]): Promise<void> {
    if (ends.length === 0) return;
    await insertMissing(
      this.model,
      ends.map((end) => ({ _id: `${end.delivery_id}:${end.run_id}`, ...end })),
    );
  }

  /** What is to be told next: what was put together before, so that a repeat after a crash tells the same; `undefined` if nothing is left. */
  async next(): Promise<EndNotice | undefined> {
    const begun = await this.model.findOne({ notice: { $gt: '' } }).lean();
    if (begun?.notice) return this.noticeOf(begun.notice);
    const first = await this.model.findOne({}).lean();
    if (!first) return undefined;
    const { account_id, endpoint_id, kind } = first;
    const together = await this.model
      .find({ account_id, endpoint_id, kind, notice: null }, { _id: 1 })
      .limit(MAX_ENDS_TOLD)
      .lean();
    const notice = randomBytes(12).toString('hex');
    await this.model.updateMany(
      { _id: { $in: together.map(({ _id }) => _id) } },
      { $set: { notice, notice_at: new Date() } },
    );
    return this.noticeOf(notice);
  }

  private async noticeOf(notice: string): Promise<EndNotice | undefined> {
    const ends = await this.model.find({ notice }).lean();
    const [first] = ends;
    if (!first) return undefined;
    const { account_id, endpoint_id, kind, notice_at } = first;
    return {
      name: notice,
      at: (notice_at ?? new Date(0)).toISOString(),
      account_id,
      endpoint_id,
      kind,
      ends,
    };
  }

  async told({ name }: EndNotice): Promise<void> {
    await this.model.deleteMany({ notice: name });
  }
}
