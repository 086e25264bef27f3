import { type Connection, type Model, Schema } from 'mongoose';
import { inParts } from '../../domain/basics/bounded-memory.js';
import { UNITS } from '../../domain/basics/duration.js';
import { idTime } from '../../domain/basics/id-time.js';
import { idsBeginAt } from '../../domain/basics/ids.js';
import { monthAndHour, sumOfUsage, type Usage, UsageSums } from '../../domain/stats/usage.js';
import { sharedNow } from '../../domain/time/shared-time.js';
import { events } from '../event/event-document.js';
import type { SegmentRepository } from '../log/segments.js';
import { collection, type DocumentIn, may, must } from '../mongo/collection.js';
import { inOrder } from '../mongo/in-order.js';

/** An hour is counted so long after its end, milliseconds: what is stored late has the time at which it began. */
const SETTLES_MS = UNITS.h;
/** How long after its month usage is kept, milliseconds. */
const KEPT_MS = 400 * UNITS.d;
/** The id of the document that says until when was counted. */
const PROGRESS = 'progress';
/** Documents that are read, or written, together. */
const AT_ONCE = 500;

const usage = collection('usage', {
  /** Month and account. */
  _id: must(String),
  /** By hour of the month, from 0 on. */
  hours: may<Record<number, Usage>>(Schema.Types.Mixed),
  /** Until when was counted: of the document of the progress alone. */
  until: may(Date),
  expires_at: may(Date, { expires: 0 }),
});
type UsageDocument = DocumentIn<typeof usage>;

/** Use of an account in a month. */
export interface MonthlyUsage extends Usage {
  account_id: string;
}

/**
 * Use of the service by account and month. An hour is counted once it is over, from the events and segments of that
 * hour, and written as it was counted: counted again, by another process too, it is the same.
 */
export class UsageRepository {
  private readonly model: Model<UsageDocument>;
  private readonly events: ReturnType<typeof events>;
  private readonly segments: Pick<SegmentRepository, 'usageBetween'>;

  constructor(connection: Connection, segments: Pick<SegmentRepository, 'usageBetween'>) {
    this.model = usage(connection);
    this.events = events(connection);
    this.segments = segments;
  }

  /** Everything before this time is counted; absent: nothing yet. */
  async until(): Promise<Date | undefined> {
    return (await this.model.findOne({ _id: PROGRESS }).lean())?.until ?? undefined;
  }

  /** Counts the hours that are over. @param stopping ends it soon @param now milliseconds since the epoch */
  async count(stopping?: AbortSignal, now = sharedNow()): Promise<void> {
    const end = Math.floor((now - SETTLES_MS) / UNITS.h) * UNITS.h;
    // Another process may have counted some of them meanwhile.
    for (let hour = await this.next(end); hour < end; hour = await this.next(end)) {
      if (!(await this.countHour(hour, stopping))) return;
      const until = new Date(hour + UNITS.h);
      await this.model.updateOne({ _id: PROGRESS }, { $max: { until } }, { upsert: true });
    }
  }

  /** Accounts that have used the service in a month, by id. @param after only those behind this id */
  async ofMonth(month: string, limit: number, after = ''): Promise<MonthlyUsage[]> {
    const range = { $gt: `${month}/${after}`, $lt: `${month}0` };
    return (await this.model.find({ _id: range }).sort({ _id: 1 }).limit(limit).lean()).map(toMonthly);
  }

  private async next(otherwise: number): Promise<number> {
    const until = await this.until();
    if (until) return until.getTime();
    const [first] = await this.events.find({}, { _id: 1 }).sort({ _id: 1 }).limit(1).lean();
    return first ? Math.floor(idTime(first._id) / UNITS.h) * UNITS.h : otherwise;
  }

  /**
   * Counts an hour.
   *
   * @param from when it begins, milliseconds since the epoch
   * @param stopping ends it soon, and then nothing is written
   * @returns whether it was counted
   */
  async countHour(from: number, stopping?: AbortSignal): Promise<boolean> {
    const to = from + UNITS.h;
    const sums = new UsageSums();
    const [begin, end] = [idsBeginAt('event', from), idsBeginAt('event', to)];
    const find = (id: { $gt: string }) =>
      this.events.find({ _id: { ...id, $lt: end } }, { account_id: 1, payload_bytes: 1 });
    for await (const some of inOrder(find, begin, AT_ONCE)) {
      if (stopping?.aborted) return false;
      for (const { account_id, payload_bytes: bytes } of some) sums.add({ account_id, events: 1, bytes });
    }
    for await (const closed of this.segments.usageBetween(from, to)) {
      if (stopping?.aborted) return false;
      sums.add(closed);
    }
    if (stopping?.aborted) return false;
    const { month, hour } = monthAndHour(from);
    const expires_at = new Date(from + 31 * UNITS.d + KEPT_MS);
    const updates = [...sums.byAccount].map(([account, counts]) => ({
      updateOne: {
        filter: { _id: `${month}/${account}` },
        update: { $set: { [`hours.${hour}`]: counts }, $setOnInsert: { expires_at } },
        upsert: true,
      },
    }));
    for (const some of inParts(updates, AT_ONCE))
      await this.model.bulkWrite(some, { ordered: false, strict: false });
    return true;
  }
}

function toMonthly({ _id, hours }: UsageDocument): MonthlyUsage {
  return { account_id: _id.slice(_id.indexOf('/') + 1), ...sumOfUsage(Object.values(hours ?? {})) };
}
