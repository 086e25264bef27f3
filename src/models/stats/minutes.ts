import { type Connection, type Model, Schema } from 'mongoose';
import { MINUTES_KEPT_MS, type MinuteRow } from '../../domain/stats/minute-count.js';

interface MinuteDocument {
  /** When it begins, milliseconds since the epoch. */
  _id: number;
  succeeded?: number;
  failed?: number;
  arrivals?: MinuteRow['arrivals'];
  expires_at: Date;
}

const schema = new Schema<MinuteDocument>(
  {
    _id: Number,
    succeeded: Number,
    failed: Number,
    arrivals: Schema.Types.Mixed,
    expires_at: { type: Date, required: true, expires: 0 },
  },
  { versionKey: false },
);

/** Attempts of the whole installation by the minute. All processes add to the same minutes. */
export class MinuteRepository {
  private readonly model: Model<MinuteDocument>;

  constructor(connection: Connection) {
    this.model = connection.model<MinuteDocument>('minute', schema, 'minutes');
  }

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

  /** Minutes from one on, oldest first; those in which nothing happened are left out. @param from milliseconds since the epoch */
  async since(from: number): Promise<MinuteRow[]> {
    const found = await this.model
      .find({ _id: { $gte: from } })
      .sort({ _id: 1 })
      .lean();
    return found.map(({ _id, succeeded = 0, failed = 0, arrivals = {} }) => ({
      minute: _id,
      succeeded,
      failed,
      arrivals,
    }));
  }
}
