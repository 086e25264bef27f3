import { type Connection, type Model, Schema } from 'mongoose';
import type { DeliveryTarget } from '../../domain/delivery/delivery.js';
import { isDuplicateKey } from '../mongo/duplicate-key.js';

/** What an idempotency key was first used for. */
export interface IdempotencyRecord {
  /** SHA-256 of event kind and body, hexadecimal. */
  body_hash: string;
  event_id: string;
  /** Where the event went: the same on every repeat, whatever has been registered since. */
  targets: DeliveryTarget[];
  /** ISO 8601, UTC. */
  accepted_at: string;
}

interface IdempotencyDocument extends IdempotencyRecord {
  /** Account and key. */
  _id: string;
  created_at: Date;
}

interface ConfirmationDocument {
  _id: string;
  created_at: Date;
}

/** How long a key is remembered, seconds: 24 hours. */
const LIFETIME_S = 24 * 3_600;

const expiring = { type: Date, required: true, expires: LIFETIME_S };
const recordSchema = new Schema<IdempotencyDocument>(
  {
    _id: String,
    body_hash: { type: String, required: true },
    event_id: { type: String, required: true },
    targets: {
      type: [{ _id: false, endpoint_id: String, schedule: { type: [Number], default: undefined } }],
      required: true,
    },
    accepted_at: { type: String, required: true },
    created_at: expiring,
  },
  { versionKey: false },
);
const confirmationSchema = new Schema<ConfirmationDocument>(
  { _id: String, created_at: expiring },
  { versionKey: false },
);

/**
 * Remembers producers' idempotency keys. A record is written before an event's deliveries are started and a confirmation after, both
 * as inserts: an update is slow on some servers of the MongoDB protocol, and a unique `_id` is all the locking there is.
 */
export class IdempotencyRepository {
  private readonly records: Model<IdempotencyDocument>;
  private readonly confirmations: Model<ConfirmationDocument>;

  constructor(connection: Connection) {
    this.records = connection.model<IdempotencyDocument>(
      'idempotency_record',
      recordSchema,
      'idempotency_records',
    );
    this.confirmations = connection.model<ConfirmationDocument>(
      'idempotency_confirmation',
      confirmationSchema,
      'idempotency_confirmations',
    );
  }

  /**
   * Claims a key for an event, or gives what it was claimed for before.
   *
   * @returns the first claim; `state` is `new` where this is it, `pending` where the deliveries of an earlier one are not known to have
   *   been started
   */
  async claim(
    accountId: string,
    key: string,
    record: IdempotencyRecord,
  ): Promise<{ record: IdempotencyRecord; state: 'new' | 'pending' | 'confirmed' }> {
    const _id = `${accountId}:${key}`;
    try {
      await this.records.create({ _id, ...record, created_at: new Date() });
      return { record, state: 'new' };
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
    }
    const first = await this.records.findById(_id).lean();
    // Expired between the two: the key is free again.
    if (!first) return this.claim(accountId, key, record);
    return { record: first, state: (await this.isConfirmed(accountId, key)) ? 'confirmed' : 'pending' };
  }

  /** Whether all deliveries of the event that the key was claimed for have been started. */
  async isConfirmed(accountId: string, key: string): Promise<boolean> {
    return (await this.confirmations.exists({ _id: `${accountId}:${key}` })) !== null;
  }

  /** Notes that all deliveries of the event have been started. */
  async confirm(accountId: string, key: string): Promise<void> {
    try {
      await this.confirmations.create({ _id: `${accountId}:${key}`, created_at: new Date() });
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
    }
  }
}
