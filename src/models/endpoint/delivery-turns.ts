import { UNITS } from '../../domain/basics/duration.js';
import { sharedNow } from '../../domain/time/shared-time.js';
import { collection, must, repositoryOf } from '../mongo/collection.js';

const turns = collection('delivery_turns', {
  /** The endpoint. */
  _id: must(String),
  /** Time of the first free turn, milliseconds since the epoch: by MongoDB's time, as all processes know it. */
  next_at: must(Number),
  expires_at: must(Date, { expires: 0 }),
});

/** Longer than any delivery waits for its turn, milliseconds. */
const REMEMBERED_MS = 14 * UNITS.d;

/**
 * Assigns rate-limit slots of endpoints, for all processes together. It keeps one time per endpoint and holds nothing:
 * deliveries wait for their slot in their workflows, for days if they have to, as no limiter in memory can.
 */
export class DeliveryTurnRepository extends repositoryOf(turns) {
  /**
   * Takes the first free turn.
   *
   * @param rate turns per second
   * @param withinMs if it comes later than in so long, it is not taken, milliseconds
   * @returns its time, milliseconds since the epoch: now or later
   */
  async take(endpointId: string, rate: number, withinMs?: number): Promise<number> {
    const interval = Math.ceil(1_000 / rate);
    const now = sharedNow();
    await this.model.updateOne(
      { _id: endpointId },
      { $max: { next_at: now, expires_at: new Date(now + REMEMBERED_MS) } },
      { upsert: true },
    );
    const isSoon = withinMs === undefined ? {} : { next_at: { $lte: now + withinMs } };
    const taken = await this.model
      .findOneAndUpdate({ _id: endpointId, ...isSoon }, { $inc: { next_at: interval } })
      .lean();
    return taken?.next_at ?? (await this.model.findById(endpointId).orFail().lean()).next_at;
  }
}
