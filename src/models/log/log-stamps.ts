import { UNITS } from '../../domain/basics/duration.js';
import { sharedDate } from '../../domain/time/shared-time.js';
import { collection, may, must, repositoryOf } from '../mongo/collection.js';
import { asDeclared } from '../mongo/declared.js';
import { insertOrRaise } from '../mongo/insert-missing.js';

/** All time stamps are kept for two days, then the last of each hour for a month, then the last of each day. */
const ALL_FOR_MS = 2 * UNITS.d;
const HOURLY_FOR_MS = 31 * UNITS.d;

/** A checkpoint with what a time-stamping service answered about it, base64. Nothing is verified. */
export interface StampedCheckpoint {
  size: number;
  note: string;
  timestamp: string;
}

const stamps = collection('log_stamps', {
  /** The hour or the day that it is the last of, or its size. */
  _id: must(String),
  size: must(Number, { index: true }),
  note: must(String),
  timestamp: must(String),
  expires_at: may(Date),
});

/**
 * Checkpoints that were stamped, so many that the time of a record is known to the minute at first, and to the day for
 * ever: a few megabytes a year.
 */
export class LogStamps extends repositoryOf(stamps) {
  async keep(stamped: StampedCheckpoint): Promise<void> {
    const now = sharedDate();
    const time = now.toISOString();
    const after = (ms: number) => new Date(now.getTime() + ms);
    const documents = [
      { _id: `${stamped.size}`, ...stamped, expires_at: after(ALL_FOR_MS) },
      { _id: time.slice(0, 13), ...stamped, expires_at: after(HOURLY_FOR_MS) },
      { _id: time.slice(0, 10), ...stamped },
    ];
    await insertOrRaise(this.model, documents, 'size');
    await this.model.deleteMany({ expires_at: { $lt: now } });
  }

  /**
   * The smallest checkpoint with a time stamp that has a leaf; `undefined` if there is none.
   *
   * @param index number of the leaf
   */
  async oldestWith(index: number): Promise<StampedCheckpoint | undefined> {
    const found = await this.model
      .findOne({ size: { $gt: index } })
      .sort({ size: 1 })
      .lean();
    if (!found || asDeclared(stamps.fields, found).wrong !== undefined) return undefined;
    return { size: found.size, note: found.note, timestamp: found.timestamp };
  }
}
