import type { Connection, Model } from 'mongoose';
import type { SecretBox } from '../../domain/access/secret-box.js';
import { UNITS } from '../../domain/basics/duration.js';
import { newId } from '../../domain/basics/ids.js';
import { present } from '../../domain/basics/objects.js';
import { canonicalJson } from '../../domain/records/canonical-json.js';
import { sharedNow } from '../../domain/time/shared-time.js';
import { collection, type DocumentIn, may, must } from '../mongo/collection.js';
import { BY_MAJORITY } from '../mongo/durability.js';
import { insertMissing } from '../mongo/insert-missing.js';
import { Tags } from '../mongo/tags.js';

/** How long it is known what became of a scheduled event that was sent, milliseconds. */
const KEPT_MS = 30 * UNITS.d;

const scheduled = collection(
  'scheduled_events',
  {
    _id: must(String),
    account_id: must(String),
    event_kind: must(String),
    due_at: must(Date),
    /** The payload, sealed; absent once the event is sent. */
    sealed: may(String),
    /** To the payload. */
    commitment: must(String),
    /** Names the key that sealed it. */
    key: must(String),
    /** Tokens of business keys, and of the subject. */
    keys: may<string[]>([String]),
    subject: may(String),
    /** Token of the key that its deliveries are ordered by. */
    order_token: may(String),
    named_endpoints: may<string[]>([String]),
    /** Account and idempotency key, or the event's own id. */
    once: must(String, { unique: true }),
    body_hash: may(String),
    /** The event that was made of it. */
    event_id: may(String),
    tag: may(String),
    expires_at: may(Date, { expires: 0 }),
  },
  { indexes: [{ account_id: 1, _id: 1 }] },
);
export type ScheduledEvent = DocumentIn<typeof scheduled>;

/** Events that wait to be sent at a time. Each is tagged, and replaced only as it was read. */
export class ScheduledEvents {
  private readonly model: Model<ScheduledEvent>;
  private readonly tags: Tags<ScheduledEvent>;

  constructor(connection: Connection, box: SecretBox | undefined) {
    this.model = scheduled(connection);
    this.tags = new Tags(box, 'scheduled event', scheduled, contentOfScheduled);
  }

  /** @returns the one that has its idempotency key already */
  async insert(event: ScheduledEvent): Promise<ScheduledEvent | undefined> {
    const taken = await insertMissing(this.model, [this.tagged(event)]);
    return taken.length > 0 ? this.withOnce(event.once) : undefined;
  }

  async withOnce(once: string): Promise<ScheduledEvent | undefined> {
    return this.believed(await this.model.findOne({ once }).setOptions(BY_MAJORITY).lean());
  }

  async get(accountId: string, id: string): Promise<ScheduledEvent | undefined> {
    return this.believed(await this.model.findOne({ _id: id, account_id: accountId }).lean());
  }

  /** Those of an account that wait, the latest first. */
  async waiting(accountId: string, limit: number, after: string | undefined): Promise<ScheduledEvent[]> {
    const found = await this.model
      .find(
        { account_id: accountId, event_id: null, ...(after !== undefined && { _id: { $lt: after } }) },
        { sealed: 0 },
      )
      .sort({ _id: -1 })
      .limit(limit)
      .lean();
    return found.flatMap((event) => this.believed(event) ?? []);
  }

  /** All that wait. */
  async *everyWaiting(): AsyncIterable<ScheduledEvent> {
    yield* this.model.find({ event_id: null }, { sealed: 0 }).lean<ScheduledEvent[]>().cursor();
  }

  count(accountId: string): Promise<number> {
    return this.model.countDocuments({ account_id: accountId, event_id: null });
  }

  /** @returns the event as it is then; `undefined` if it has changed since it was read */
  async change(event: ScheduledEvent, due_at: Date): Promise<ScheduledEvent | undefined> {
    return this.replace(event, { due_at });
  }

  /** Decides that it is sent now: from then on it can be neither changed nor cancelled. */
  async claim(event: ScheduledEvent): Promise<ScheduledEvent | undefined> {
    return event.event_id ? event : this.replace(event, { event_id: newId('event') });
  }

  /** It has been sent: its payload is with its event. */
  async sent({ _id }: ScheduledEvent): Promise<void> {
    const expires_at = new Date(sharedNow() + KEPT_MS);
    await this.model.updateOne({ _id }, { $unset: { sealed: 1 }, $set: { expires_at } });
  }

  /** @returns whether it was there as it was read */
  async remove({ _id, tag }: ScheduledEvent): Promise<boolean> {
    return (await this.model.deleteOne({ _id, tag })).deletedCount === 1;
  }

  /** Removes those that a key sealed. */
  async removeOfKey(accountId: string, key: string): Promise<void> {
    await this.model.deleteMany({ account_id: accountId, key });
  }

  /** Removes those of an account. */
  async removeAll(accountId: string): Promise<void> {
    await this.model.deleteMany({ account_id: accountId });
  }

  /** Tags again what an older key tagged. @returns how many */
  retagAll(): Promise<number> {
    return this.tags.retagEach(this.model, { sealed: 0 });
  }

  private async replace(
    event: ScheduledEvent,
    set: Partial<ScheduledEvent>,
  ): Promise<ScheduledEvent | undefined> {
    const next = this.tagged({ ...event, ...set });
    const { matchedCount } = await this.model.updateOne(
      { _id: event._id, tag: event.tag },
      { $set: { ...set, tag: next.tag } },
    );
    return matchedCount === 1 ? next : undefined;
  }

  private tagged(event: ScheduledEvent): ScheduledEvent {
    return { ...event, tag: this.tags.tag(event) };
  }

  private believed(event: ScheduledEvent | null): ScheduledEvent | undefined {
    return event ? this.tags.check(event) : undefined;
  }
}

/** All of it that is believed: what is sealed shows by itself whether it was altered. */
export function contentOfScheduled({
  sealed: _,
  tag: __,
  expires_at: ___,
  due_at,
  ...event
}: ScheduledEvent): string {
  const there = Object.entries(event).filter(([, value]) => value !== null);
  return canonicalJson(present({ ...Object.fromEntries(there), due_at: due_at.toISOString() }));
}
