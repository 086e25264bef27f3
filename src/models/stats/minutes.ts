import { Schema } from 'mongoose';
import { MINUTES_KEPT_MS, type MinuteRow } from '../../domain/stats/minute-count.js';
import { collection, may, must, repositoryOf } from '../mongo/collection.js';

const minutes = collection('minutes', {
  /** When it begins, milliseconds since the epoch. */
  _id: must(Number),
  succeeded: may(Number),
  failed: may(Number),
  arrivals: may<MinuteRow['arrivals']>(Schema.Types.Mixed),
  expires_at: must(Date, { expires: 0 }),
});

/** Attempts of the whole installation by the minute. All processes add to the same minutes. */
export class MinuteRepository extends repositoryOf(minutes) {
  /** Adds what a process has counted: one write for each minute. */
  async add(rows: readonly MinuteRow[]): Promise<void> {
    if (rows.length === 0) return;
    await this.model.bulkWrite(
      rows.map(({ minute, succeeded, failed, arrivals }) => {
        const spans = Object.entries(arrivals).map(([span, count]) => [`arrivals.${span}`, count]);
        return {
          updateOne: {
            filter: { _id: minute },
            update: {
              $inc: { succeeded, failed, ...Object.fromEntries(spans) },
              $setOnInsert: { expires_at: new Date(minute + MINUTES_KEPT_MS) },
            },
            upsert: true,
          },
        };
      }),
      { ordered: false, strict: false },
    );
  }

  /**
   * Minutes from one on, oldest first; those in which nothing happened are left out.
   *
   * @param from milliseconds since the epoch
   */
  async since(from: number): Promise<MinuteRow[]> {
    const found = await this.model
      .find({ _id: { $gte: from } })
      .sort({ _id: 1 })
      .lean();
    return found.map(({ _id, succeeded, failed, arrivals }) => ({
      minute: _id,
      succeeded: succeeded ?? 0,
      failed: failed ?? 0,
      arrivals: arrivals ?? {},
    }));
  }
}
