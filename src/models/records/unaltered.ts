import { createHash } from 'node:crypto';
import type { Model } from 'mongoose';
import { leafHash } from '../../../packages/tlog/src/index.js';
import { commitTo, keyIdOf, SealedTextError } from '../../domain/privacy/data-key.js';
import type { PayloadSealer } from '../../domain/privacy/payload-sealer.js';
import { requireIntact, saltPurposes } from '../../domain/records/commitments.js';
import { RecordAlteredError } from '../../domain/records/record-altered.js';
import type { DeliveryRow, EventRow, ListedDelivery } from '../../domain/records/stored.js';
import { type EventDocument, type EventSeal, events, toEvent } from '../event/event-document.js';
import { KEY_TAKEN, PAYLOAD_TAKEN } from '../event/payloads.js';
import { nameOf, type Segment } from '../log/segments.js';
import { withoutNulls } from '../mongo/collection.js';
import { asDeclared } from '../mongo/declared.js';
import type { DataKeyRepository } from '../privacy/data-keys.js';
import { type DeliveryDocument, type ListedDocument, toListed } from './row-documents.js';
import type { RowTags } from './row-tags.js';

/** A delivery as it is stored, opened as far as its key exists. */
export interface OpenedDelivery {
  recorded: DeliveryRow;
  /** The segment that its row names; absent while it is open. */
  segment?: string;
  /** It is not what was written; absent if it is. */
  altered?: RecordAlteredError;
}

/** An event as it is stored, opened as far as its key exists. */
export interface OpenedEvent {
  event: EventRow;
  /** It is not what was written; absent if it is. */
  altered?: RecordAlteredError;
}

/**
 * Reads rows and events, and sees whether they are as they were written. Write access to MongoDB suffices to alter
 * them; but a row has a tag under a key that is not there, its record commits to all that is shown with it, and an
 * event commits to its payload.
 */
export class UnalteredReader {
  private readonly sealer: PayloadSealer;
  private readonly keys: Pick<DataKeyRepository, 'wasErased'>;
  private readonly tags: RowTags;
  private readonly eventModel: Model<EventDocument>;
  private readonly eventSeal: EventSeal;

  constructor(
    { sealer, keys }: { sealer: PayloadSealer; keys: Pick<DataKeyRepository, 'wasErased'> },
    tags: RowTags,
    eventModel: Model<EventDocument>,
    eventSeal: EventSeal,
  ) {
    this.sealer = sealer;
    this.keys = keys;
    this.tags = tags;
    this.eventModel = eventModel;
    this.eventSeal = eventSeal;
  }

  /** Deliveries as lists show them. @throws RecordAlteredError for the first that was altered */
  async listed(documents: readonly ListedDocument[]): Promise<ListedDelivery[]> {
    return documents.map((stored) => toListed(this.tags.check(stored)));
  }

  /** Deliveries as they are read by themselves, each with what is wrong with it. */
  async opened(documents: readonly DeliveryDocument[]): Promise<OpenedDelivery[]> {
    const keys = await this.keysOf(documents);
    return Promise.all(
      documents.map(async (stored) => {
        const { document, wrong } = this.tags.read(stored);
        const { _id, detail, event_id, segment } = document;
        const opened = await this.open(document, detail ?? keys.get(event_id));
        const altered = wrong !== undefined && { altered: new RecordAlteredError(_id, wrong) };
        return { ...opened, ...withoutNulls({ segment }), ...altered };
      }),
    );
  }

  /** @param key a text that names the key of its event; absent if nothing does any more */
  private async open(
    { detail, timeline, ...listed }: DeliveryDocument,
    key: string | undefined,
  ): Promise<Omit<OpenedDelivery, 'segment'>> {
    const { _id: id, record, account_id: accountId, event_id: eventId, revision } = listed;
    const context = { accountId, eventId };
    let recorded: DeliveryRow = { ...toListed(listed), detail: undefined, timeline: undefined };
    try {
      const [openedDetail, openedTimeline, salt] = await Promise.all([
        detail ? this.sealer.open(context, detail) : undefined,
        timeline ? this.sealer.open(context, timeline) : undefined,
        key === undefined ? undefined : this.sealer.salt(context, key, saltPurposes({ id, revision }).view),
      ]);
      recorded = { ...recorded, detail: openedDetail, timeline: openedTimeline };
      if (typeof record !== 'string') {
        const isSame = sumOf(detail, timeline) === listed.sum;
        return isSame
          ? { recorded }
          : { recorded, altered: new RecordAlteredError(id, 'has another detail') };
      }
      requireIntact(recorded, salt);
      const isGone = key !== undefined && !salt && !(await this.keys.wasErased(accountId, keyIdOf(key)));
      if (isGone) throw new RecordAlteredError(id, KEY_TAKEN);
      return { recorded };
    } catch (error) {
      if (error instanceof RecordAlteredError) return { recorded, altered: error };
      if (!(error instanceof SealedTextError)) throw error;
      const altered = new RecordAlteredError(id, 'has a text that does not open', { cause: error });
      return { recorded, altered };
    }
  }

  /** An event with its payload. */
  async event(stored: EventDocument): Promise<OpenedEvent> {
    const { document, wrong } = this.eventSeal.read(stored);
    const { _id: eventId, account_id: accountId, sealed, commitment, payload_bytes } = document;
    const altered = (how: string, cause?: unknown) => ({
      event: toEvent(document),
      altered: new RecordAlteredError(eventId, how, { cause }),
    });
    if (wrong !== undefined) return altered(wrong);
    if (!sealed) return document.payload_expires_at ? altered(PAYLOAD_TAKEN) : { event: toEvent(document) };
    try {
      const context = { accountId, eventId };
      const payload = await this.sealer.open(context, sealed);
      if (payload === undefined && !(await this.keys.wasErased(accountId, keyIdOf(sealed))))
        return altered(KEY_TAKEN);
      const salt = payload === undefined ? undefined : await this.sealer.salt(context, sealed);
      const isSame =
        payload === undefined ||
        (Buffer.byteLength(payload) === payload_bytes && (!salt || commitTo(salt, payload) === commitment));
      return isSame
        ? { event: toEvent(document, payload) }
        : altered('has another payload than it commits to');
    } catch (error) {
      if (!(error instanceof SealedTextError)) throw error;
      return altered('has a payload that does not open', error);
    }
  }

  /** Events as they were written, apart from their payloads. @throws RecordAlteredError for the first that is not */
  events(documents: readonly EventDocument[]): EventDocument[] {
    return documents.map((stored) => this.eventSeal.check(stored));
  }

  /** Names the keys of the events of those that do not name it themselves, as long as anything is kept of them. */
  private async keysOf(documents: readonly DeliveryDocument[]): Promise<Map<string, string>> {
    const ids = documents.filter(({ detail }) => !detail).map(({ event_id }) => event_id);
    if (ids.length === 0) return new Map();
    const found = await this.eventModel.find({ _id: { $in: [...new Set(ids)] } }, { key: 1 }).lean();
    return new Map(found.map((one) => [one._id, asDeclared(events.fields, one).document.key]));
  }
}

/** Difference of a row from its segment; `undefined` if there is none. */
export function wrongIn(
  segment: Segment,
  { _id: id, revision, record }: Pick<DeliveryDocument, '_id' | 'revision' | 'record'>,
): string | undefined {
  if (segment.wrong !== undefined) return `is in the segment ${segment.id}, which ${segment.wrong}`;
  const place = segment.records.indexOf(nameOf({ id, revision }));
  if (place < 0) return `says that it is in the segment ${segment.id}, which does not name it`;
  const isRight = typeof record === 'string' && segment.hashes[place]?.equals(leafHash(record));
  return isRight ? undefined : `has another record than the one that the segment ${segment.id} names`;
}

/** SHA-256 of the sealed parts of an open delivery, base64. */
export function sumOf(detail: string | null | undefined, timeline: string | null | undefined): string {
  return createHash('sha256')
    .update(`${detail ?? ''}\n${timeline ?? ''}`)
    .digest('base64');
}
