import type { DeliveryTarget } from '../../domain/delivery/delivery.js';
import type { GroupRange } from '../../domain/ledger/group-series.js';
import { sharedDate } from '../../domain/time/shared-time.js';
import { collection, type DocumentIn, may, must, repositoryOf } from '../mongo/collection.js';
import { BY_MAJORITY } from '../mongo/durability.js';

/**
 * What is known of the deliveries of a claim:
 * - `pending`: the request that made the claim is starting them, or died.
 * - `repeated`: another request is, too.
 * - `refused`: none was started, and none will be: the claim counts for nothing.
 * - `confirmed`: all were started.
 */
export type ClaimState = 'pending' | 'repeated' | 'refused' | 'confirmed';

const records = collection('idempotency_records', {
  /** Account and key. */
  _id: must(String),
  /**
   * Salted hash of event kind, body and headers, hexadecimal: nobody can test a guess of the body once its key was
   * erased.
   */
  body_hash: must(String),
  event_id: must(String),
  /** The endpoints that the event went to: the same on every repeat, whatever has been registered since. */
  targets: must<DeliveryTarget[]>([
    { _id: false, endpoint_id: String, schedule: { type: [Number], default: undefined } },
  ]),
  /** ISO 8601, UTC. */
  accepted_at: must(String),
  /**
   * The groups in which the request that claimed the key starts deliveries, if it starts any in groups that their ids
   * do not tell.
   */
  groups: may<GroupRange>({ _id: false, series: String, first: Number, last: Number }),
  /** Its number in the account's sequence. */
  sequence: must(Number),
  state: must<ClaimState>(String),
  /** A key is remembered for 24 hours. */
  created_at: must(Date, { expires: 24 * 3_600 }),
});

/** What an idempotency key was first used for. */
export type IdempotencyRecord = Omit<DocumentIn<typeof records>, '_id' | 'state' | 'created_at'>;

/**
 * Remembers producers' idempotency keys for a day: a key is claimed before the deliveries are started, and confirmed
 * after.
 */
export class IdempotencyRepository extends repositoryOf(records) {
  /**
   * Claims a key for an event, unless it has been claimed before. A claim that was refused makes room for another one
   * of the same body.
   *
   * @returns the claim that counts, and its state, which is `new` if this call made it
   */
  async claim(
    accountId: string,
    key: string,
    record: IdempotencyRecord,
  ): Promise<{ record: IdempotencyRecord; state: ClaimState | 'new' }> {
    const _id = idOf(accountId, key);
    const claim = { ...record, state: 'pending', created_at: sharedDate() } as const;
    const options = { upsert: true, returnDocument: 'before' } as const;
    const earlier = await this.model.findOneAndUpdate({ _id }, { $setOnInsert: claim }, options).lean();
    if (!earlier) return { record, state: 'new' };
    if (earlier.state === 'refused' && earlier.body_hash === record.body_hash) {
      const { event_id } = earlier;
      const { groups, ...rest } = claim;
      const renewal = groups ? { $set: claim } : { $set: rest, $unset: { groups: true } };
      const { matchedCount } = await this.model.updateOne({ _id, event_id, state: 'refused' }, renewal);
      return matchedCount > 0 ? { record, state: 'new' } : this.claim(accountId, key, record);
    }
    // A server that stands in for MongoDB once left an empty list out.
    return { record: { ...earlier, targets: earlier.targets ?? [] }, state: earlier.state };
  }

  /** Whether all deliveries of the event that the key was claimed for are known to have been started. */
  async isConfirmed(accountId: string, key: string): Promise<boolean> {
    const confirmed = this.model.exists({ _id: idOf(accountId, key), state: 'confirmed' });
    return (await confirmed.setOptions(BY_MAJORITY)) !== null;
  }

  /** Records that all deliveries of the event have been started. */
  async confirm(accountId: string, key: string): Promise<void> {
    await this.model.updateOne({ _id: idOf(accountId, key) }, { $set: { state: 'confirmed' } });
  }

  /**
   * Records that another request starts the deliveries of a claim, too: from now on it cannot be refused.
   *
   * @returns whether the claim still waits for its deliveries
   */
  async repeat(accountId: string, key: string, event_id: string): Promise<boolean> {
    const { matchedCount } = await this.model.updateOne(
      { _id: idOf(accountId, key), event_id, state: { $in: ['pending', 'repeated'] } },
      { $set: { state: 'repeated' } },
    );
    return matchedCount > 0;
  }

  /** Records that no delivery of a claim was started, and none will be, unless another request is starting them. */
  async refuse(accountId: string, key: string, event_id: string): Promise<void> {
    await this.model.updateOne(
      { _id: idOf(accountId, key), event_id, state: 'pending' },
      { $set: { state: 'refused' } },
    );
  }
}

function idOf(accountId: string, key: string): string {
  return `${accountId}:${key}`;
}
