import type { Connection, Model } from 'mongoose';
import type { SecretBox } from '../../domain/access/secret-box.js';
import { UNITS } from '../../domain/basics/duration.js';
import { idsBeginAt } from '../../domain/basics/ids.js';
import type { EventStore, EventToStore, KeptEvent, StoredEvent } from '../../domain/delivery/stored-event.js';
import { keyNameOf } from '../../domain/privacy/data-key.js';
import type { KeptDays } from '../../domain/records/kept-days.js';
import { RecordAlteredError } from '../../domain/records/record-altered.js';
import { sharedNow } from '../../domain/time/shared-time.js';
import { BY_MAJORITY } from '../mongo/durability.js';
import { inOrder } from '../mongo/in-order.js';
import { insertMissing } from '../mongo/insert-missing.js';
import { EventBatches } from './event-batches.js';
import { type EventDocument, EventSeal, events, storedKeys, toStored } from './event-document.js';

/**
 * A delivery may be open for so long before its record's own time begins, milliseconds: the longest schedule, and being
 * parked several times. The event outlives it.
 */
const OPEN_AT_MOST_MS = 30 * UNITS.d;

/** How long events and their payloads are kept. */
export interface EventRetention {
  records: KeptDays;
  payloads: KeptDays;
}

/** Events: each is a document before its producer is answered. */
export class EventRepository implements EventStore {
  private readonly model: Model<EventDocument>;
  private readonly retention: EventRetention;
  private readonly seal: EventSeal;
  private readonly batches: EventBatches;

  constructor(connection: Connection, retention: EventRetention, box: SecretBox | undefined) {
    this.model = events(connection);
    this.retention = retention;
    this.seal = new EventSeal(box);
    this.batches = new EventBatches(connection, this.model, this.seal);
  }

  async insert(some: readonly EventToStore[]): Promise<(KeptEvent | undefined)[]> {
    return this.insertDocuments(some.map((one) => this.toDocument(one)));
  }

  async insertTogether(some: readonly EventToStore[]): Promise<(KeptEvent | undefined)[]> {
    const documents = some.map((one) => this.toDocument(one));
    return this.batches.decided(documents, () => this.insertDocuments(documents));
  }

  /** Stores what was decided to be stored, and has not been, because a process died in between. */
  completeBatches(): Promise<void> {
    return this.batches.complete();
  }

  /** The events of an account that have some idempotency keys, by key. */
  async keptBefore(accountId: string, keys: readonly string[]): Promise<ReadonlyMap<string, KeptEvent>> {
    const found = await this.withOnce(keys.map((key) => onceOf(accountId, key)));
    const byOnce = new Map(found.map((document) => [document.once, this.toKept(document)]));
    return new Map(
      keys.flatMap((key) => {
        const kept = byOnce.get(onceOf(accountId, key));
        return kept ? [[key, kept] as const] : [];
      }),
    );
  }

  private async withOnce(once: readonly string[]): Promise<EventDocument[]> {
    if (once.length === 0) return [];
    return this.model
      .find({ once: { $in: [...once] } }, { sealed: 0 })
      .setOptions(BY_MAJORITY)
      .lean();
  }

  private async insertDocuments(documents: readonly EventDocument[]): Promise<(KeptEvent | undefined)[]> {
    const taken = await insertMissing(this.model, documents);
    if (taken.length === 0) return documents.map(() => undefined);
    const found = await this.withOnce(taken.map((index) => documents[index]?.once ?? ''));
    const byOnce = new Map(found.map((document) => [document.once, document]));
    return documents.map((document, index) => {
      if (!taken.includes(index)) return undefined;
      const there = byOnce.get(document.once);
      // It has just expired.
      if (!there) throw new Error(`the event with the key of ${document._id} is gone`);
      return isSame(there, document) ? undefined : this.toKept(there);
    });
  }

  async stored(ids: readonly string[]): Promise<Set<string>> {
    if (this.batches.hasDoubts) await this.batches.complete();
    const found = await this.model
      .find({ _id: { $in: [...ids] } }, { _id: 1 })
      .setOptions(BY_MAJORITY)
      .lean();
    return new Set(found.map(({ _id }) => _id));
  }

  async find(id: string): Promise<StoredEvent | undefined> {
    const [found] = this.believed(await this.model.find({ _id: id }).lean());
    return found;
  }

  async carriedBy(carrier: string): Promise<StoredEvent[]> {
    return this.believed(await this.model.find({ carriers: carrier }).setOptions(BY_MAJORITY).lean());
  }

  async *ofStarter(starter: string, since: number): AsyncIterable<StoredEvent[]> {
    await this.batches.complete();
    const find = (id: { $gt: string }) => this.model.find({ _id: id, starter });
    for await (const some of inOrder(find, idsBeginAt('event', since))) yield this.believed(some);
  }

  /**
   * Events from this time on are all kept, milliseconds since the epoch.
   *
   * @param kinds that the account's events can have; absent: by the shortest rule of the installation
   */
  keptFrom(accountId: string, kinds: readonly string[] | undefined): number {
    const { records } = this.retention;
    const days = kinds ? Math.min(...kinds.map((kind) => records.days(accountId, kind))) : records.least;
    return sharedNow() - days * UNITS.d - OPEN_AT_MOST_MS;
  }

  /** Those of some documents that are what was written and can be sent: others are started by nobody. */
  private believed(documents: readonly EventDocument[]): StoredEvent[] {
    return documents.flatMap((stored) => {
      const document = this.seal.believed(stored);
      return (document && toStored(document)) ?? [];
    });
  }

  /** A stored event as the response to its producer. One that was altered may have the key of another event. */
  private toKept(stored: EventDocument): KeptEvent {
    const { document, wrong } = this.seal.read(stored);
    const { _id, accepted_at, sequence, targets, body_hash } = document;
    return {
      event_id: _id,
      accepted_at: accepted_at.toISOString(),
      sequence: sequence ?? undefined,
      // A server that stands in for MongoDB once left an empty list out.
      targets: wrong === undefined ? (targets ?? []) : [],
      body_hash: body_hash ?? undefined,
      ...(wrong !== undefined && { altered: new RecordAlteredError(_id, wrong) }),
    };
  }

  private toDocument({ event, once, ...stored }: EventToStore): EventDocument {
    const {
      account_id,
      event_id: _id,
      event_kind,
      keys = [],
      sequence,
      is_test,
      named_endpoints,
      traceparent,
      tracestate,
    } = event;
    const { sealed, commitment, payload_bytes, targets, carriers, starter } = stored;
    const accepted_at = new Date(event.accepted_at);
    const after = (days: KeptDays, ms: number) =>
      new Date(accepted_at.getTime() + days.days(account_id, event_kind) * UNITS.d + ms);
    const document: EventDocument = {
      ...{ _id, account_id, event_kind, accepted_at, ...storedKeys(keys) },
      ...{ sealed, key: keyNameOf(sealed), commitment, payload_bytes },
      ...(sequence !== undefined && { sequence }),
      ...(is_test && { is_test }),
      ...(named_endpoints && { named_endpoints: [...named_endpoints] }),
      ...(traceparent !== undefined && { traceparent }),
      ...(tracestate !== undefined && { tracestate }),
      targets: [...targets],
      ...(carriers.length > 0 && { carriers: [...carriers] }),
      starter,
      once: once ? onceOf(account_id, once.key) : _id,
      ...(once && { body_hash: once.body_hash }),
      payload_expires_at: after(this.retention.payloads, 0),
      expires_at: after(this.retention.records, OPEN_AT_MOST_MS),
    };
    return { ...document, tag: this.seal.tag(document) };
  }
}

/** Value of `once` of an event with an idempotency key. */
function onceOf(accountId: string, key: string): string {
  return `${accountId}:${key}`;
}

/** Whether a document is the one that was to be written: a write that the driver has sent twice finds itself. */
function isSame(there: EventDocument, { _id, starter, carriers }: EventDocument): boolean {
  const isCarriedAlike = [...(there.carriers ?? [])].join() === [...(carriers ?? [])].join();
  return there._id === _id && there.starter === starter && isCarriedAlike;
}
