import { type Connection, type Model, Schema } from 'mongoose';
import { type Tally, tallyEnd } from '../../domain/access/rate-counters.js';

interface TallyDocument {
  /** The process that tells. Nobody else writes the document, so that no update can be lost. */
  _id: string;
  /** JSON of its tallies: they are read and written together only, and there can be many. */
  tallies: string;
  told_at: Date;
  expires_at: Date;
}

const schema = new Schema<TallyDocument>(
  {
    _id: String,
    tallies: { type: String, required: true },
    told_at: { type: Date, required: true },
    expires_at: { type: Date, required: true, expires: 0 },
  },
  { versionKey: false },
);

/** No two processes' clocks are further apart, milliseconds. */
const CLOCK_TOLERANCE_MS = 60_000;

/** What the processes tell each other of the requests that they counted: one document for each. */
export class RateTallyRepository {
  private readonly model: Model<TallyDocument>;

  constructor(connection: Connection) {
    this.model = connection.model<TallyDocument>('rate_tally', schema, 'rate_tallies');
  }

  /** Tells what a process has counted, in place of what it told before. It is kept until the last window has ended. */
  async tell(process: string, tallies: readonly Tally[], now: number): Promise<void> {
    const end = tallies.reduce((latest, tally) => Math.max(latest, tallyEnd(tally)), now);
    await this.model.replaceOne(
      { _id: process },
      {
        tallies: JSON.stringify(tallies),
        told_at: new Date(now),
        expires_at: new Date(end + CLOCK_TOLERANCE_MS),
      },
      { upsert: true },
    );
  }

  /**
   * What the others have told since, and a minute before, as clocks differ.
   *
   * @param since milliseconds since the epoch; 0 for everything
   */
  async toldByOthers(process: string, since: number): Promise<{ process: string; tallies: Tally[] }[]> {
    const documents = await this.model
      .find({ _id: { $ne: process }, told_at: { $gte: new Date(since - CLOCK_TOLERANCE_MS) } })
      .lean();
    return documents.map(({ _id, tallies }) => ({ process: _id, tallies: JSON.parse(tallies) as Tally[] }));
  }

  /** Removes what processes left behind that are gone, for servers without TTL indexes. */
  async deleteExpired(now: number): Promise<void> {
    await this.model.deleteMany({ expires_at: { $lt: new Date(now) } });
  }
}
