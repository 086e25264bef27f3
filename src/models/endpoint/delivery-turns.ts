import { type Connection, type Model, mongo, Schema } from 'mongoose';
import { dropOldest } from '../../domain/basics/drop-oldest.js';

interface TurnDocument {
  /** Endpoint, interval and number of the turn: whoever inserts it has it. */
  _id: string;
  expires_at: Date;
}

const schema = new Schema<TurnDocument>(
  { _id: String, expires_at: { type: Date, required: true, expires: 0 } },
  { versionKey: false },
);

const DUPLICATE_KEY = 11_000;
/** A turn is remembered this long after its time, milliseconds: no clock of a process is further behind. */
const REMEMBERED_MS = 60_000;
/** Endpoints whose latest turn is remembered; for others it is found again. */
const MAX_ENDPOINTS = 10_000;
/** Servers without TTL indexes are swept after so many turns. */
const SWEEP_EVERY = 1_000;

/**
 * Hands out turns to deliver to endpoints with a rate limit, across all processes: time is cut into intervals of the limit, and each
 * belongs to the one delivery that inserts its document. An insert is the only write, and a unique `_id` all the locking there is.
 */
export class DeliveryTurnRepository {
  private readonly model: Model<TurnDocument>;
  /** The latest turn that this process took, by endpoint and interval. */
  private readonly latest = new Map<string, Promise<number>>();
  private taken = 0;

  constructor(connection: Connection) {
    this.model = connection.model<TurnDocument>('delivery_turn', schema, 'delivery_turns');
  }

  /**
   * Takes the first free turn.
   *
   * @param rate turns per second
   * @returns its time, milliseconds since the epoch: now or later
   */
  take(endpointId: string, rate: number): Promise<number> {
    const interval = Math.ceil(1_000 / rate);
    const key = `${endpointId}:${interval}`;
    // One at a time in this process, each after the one before: only other processes are in the way then.
    const previous = this.latest.get(key) ?? Promise.resolve(0);
    const turn = previous.catch(() => 0).then((last) => this.takeAfter(key, interval, last));
    this.latest.delete(key);
    this.latest.set(key, turn);
    dropOldest(this.latest, MAX_ENDPOINTS);
    return turn;
  }

  private async takeAfter(key: string, interval: number, last: number): Promise<number> {
    let number = Math.max(Math.ceil(Date.now() / interval), last / interval + 1);
    while (!(await this.insert(key, interval, number))) number = await this.firstFree(key, number);
    this.taken += 1;
    // What is left over costs room and nothing else, so no delivery waits for it.
    if (this.taken % SWEEP_EVERY === 0)
      this.model.deleteMany({ expires_at: { $lt: new Date() } }).catch(() => {});
    return number * interval;
  }

  private async insert(key: string, interval: number, number: number): Promise<boolean> {
    const expires_at = new Date(number * interval + REMEMBERED_MS);
    try {
      await this.model.create({ _id: `${key}:${number}`, expires_at });
      return true;
    } catch (error) {
      if (error instanceof mongo.MongoServerError && error.code === DUPLICATE_KEY) return false;
      throw error;
    }
  }

  /** Turns are taken without gaps, so that the end of a long queue is found by doubling steps and halving them again. */
  private async firstFree(key: string, takenNumber: number): Promise<number> {
    const isTaken = async (number: number) => (await this.model.exists({ _id: `${key}:${number}` })) !== null;
    let taken = takenNumber;
    let step = 1;
    while (await isTaken(taken + step)) {
      taken += step;
      step *= 2;
    }
    let free = taken + step;
    while (free - taken > 1) {
      const middle = Math.floor((taken + free) / 2);
      if (await isTaken(middle)) taken = middle;
      else free = middle;
    }
    return free;
  }
}
