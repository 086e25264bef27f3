import { type Connection, type Model, Schema } from 'mongoose';
import type { DeliveryTarget } from '../../domain/delivery/delivery.js';

/** What an idempotency key was first used for. */
export interface IdempotencyRecord {
  /** Salted hash of event kind, body and headers, hexadecimal: nobody can test a guess of the body once its key was erased. */
  body_hash: string;
  event_id: string;
  /** The endpoints that the event went to: the same on every repeat, whatever has been registered since. */
  targets: DeliveryTarget[];
  /** ISO 8601, UTC. */
  accepted_at: string;
}

interface IdempotencyDocument extends IdempotencyRecord {
  /** Account and key. */
  _id: string;
  /** `confirmed` once all deliveries of the event are known to have been started. */
  state: 'pending' | 'confirmed';
  created_at: Date;
}

/** How long a key is remembered, seconds: 24 hours. */
const LIFETIME_S = 24 * 3_600;

const schema = new Schema<IdempotencyDocument>(
  {
    _id: String,
    body_hash: { type: String, required: true },
    event_id: { type: String, required: true },
    targets: {
      type: [{ _id: false, endpoint_id: String, schedule: { type: [Number], default: undefined } }],
      required: true,
    },
    accepted_at: { type: String, required: true },
    state: { type: String, required: true },
    created_at: { type: Date, required: true, expires: LIFETIME_S },
  },
  { versionKey: false },
);

/** Remembers producers' idempotency keys for a day: a key is claimed before the deliveries are started, and confirmed after. */
export class IdempotencyRepository {
  private readonly model: Model<IdempotencyDocument>;

  constructor(connection: Connection) {
    this.model = connection.model<IdempotencyDocument>('idempotency_record', schema, 'idempotency_records');
  }

  /**
   * Claims a key for an event, unless it has been claimed before.
   *
   * @returns the first claim. Its state is `new` if this call made it, and `pending` while the deliveries of an earlier one are not
   *   known to have been started
   */
  async claim(
    accountId: string,
    key: string,
    record: IdempotencyRecord,
  ): Promise<{ record: IdempotencyRecord; state: 'new' | 'pending' | 'confirmed' }> {
    const claim = { ...record, state: 'pending', created_at: new Date() } as const;
    const earlier = await this.model
      .findOneAndUpdate(
        { _id: idOf(accountId, key) },
        { $setOnInsert: claim },
        { upsert: true, returnDocument: 'before' },
      )
      .lean();
    if (!earlier) return { record, state: 'new' };
    // A server that stands in for MongoDB once left an empty list out.
    return { record: { ...earlier, targets: earlier.targets ?? [] }, state: earlier.state };
  }

  /** Whether all deliveries of the event that the key was claimed for are known to have been started. */
  async isConfirmed(accountId: string, key: string): Promise<boolean> {
    return (await this.model.exists({ _id: idOf(accountId, key), state: 'confirmed' })) !== null;
  }

  /** Records that all deliveries of the event have been started. */
  async confirm(accountId: string, key: string): Promise<void> {
    await this.model.updateOne({ _id: idOf(accountId, key) }, { $set: { state: 'confirmed' } });
  }
}

function idOf(accountId: string, key: string): string {
  return `${accountId}:${key}`;
}
