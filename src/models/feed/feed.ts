import type { Connection, Model } from 'mongoose';
import { UNITS } from '../../domain/basics/duration.js';
import type { FeedPlaces, LateEvent } from '../../domain/feed/feed.js';
import type { KeptDays } from '../../domain/records/kept-days.js';
import { collection, type DocumentIn, must } from '../mongo/collection.js';
import { BY_MAJORITY } from '../mongo/durability.js';

const lateEvents = collection(
  'feed_late',
  {
    /** The event. */
    _id: must(String),
    account_id: must(String),
    position: must(String),
    expires_at: must(Date, { expires: 0 }),
  },
  { indexes: [{ account_id: 1, position: 1 }] },
);

const reads = collection('feed_reads', { _id: must(String), until: must(Date) });

/** The only document. */
const READ = 'feed';

/** Positions of late events, and how far the feed may have been read by anybody. */
export class FeedRepository implements FeedPlaces {
  private readonly late: Model<DocumentIn<typeof lateEvents>>;
  private readonly reads: Model<DocumentIn<typeof reads>>;
  private readonly kept: KeptDays;
  /** Time that this process knows to be written. */
  private knownUntil = 0;

  constructor(connection: Connection, kept: KeptDays) {
    this.late = lateEvents(connection);
    this.reads = reads(connection);
    this.kept = kept;
  }

  async readUntil(): Promise<number> {
    const found = await this.reads.findById(READ).setOptions(BY_MAJORITY).lean();
    return found?.until.getTime() ?? 0;
  }

  /** Events up to a time are about to be read, milliseconds since the epoch. @returns whether it was known already */
  async announce(until: number): Promise<boolean> {
    if (until <= this.knownUntil) return true;
    await this.reads.updateOne({ _id: READ }, { $max: { until: new Date(until) } }, { upsert: true });
    this.knownUntil = Math.max(this.knownUntil, until);
    return false;
  }

  async place(late: readonly LateEvent[]): Promise<void> {
    await this.late.bulkWrite(
      late.map(({ event: { event_id: _id, account_id, event_kind, accepted_at }, position }) => {
        const days = this.kept.days(account_id, event_kind);
        const expires_at = new Date(Date.parse(accepted_at) + days * UNITS.d);
        const update = { $max: { position }, $setOnInsert: { account_id, expires_at } };
        return { updateOne: { filter: { _id }, update, upsert: true } };
      }),
      { ordered: false },
    );
  }

  /** Late events of an account between two positions, in their order, as ids and positions. */
  async between(
    accountId: string,
    { after, before }: { after: string; before: string },
    limit: number,
  ): Promise<{ id: string; position: string }[]> {
    const found = await this.late
      .find({ account_id: accountId, position: { $gt: after, $lt: before } })
      .sort({ position: 1 })
      .limit(limit)
      .lean();
    return found.map(({ _id: id, position }) => ({ id, position }));
  }

  /** The positions of those of some events that are late. */
  async lateOf(eventIds: readonly string[]): Promise<Map<string, string>> {
    if (eventIds.length === 0) return new Map();
    const found = await this.late.find({ _id: { $in: [...eventIds] } }).lean();
    return new Map(found.map(({ _id, position }) => [_id, position]));
  }
}
