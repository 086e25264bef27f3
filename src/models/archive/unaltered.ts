import type { Model } from 'mongoose';
import type { ArchivedDelivery, ArchivedEvent, ListedDelivery } from '../../domain/archive/archived.js';
import { requireIntact, saltPurposes } from '../../domain/archive/commitments.js';
import { isRecordAltered, RecordAlteredError } from '../../domain/archive/record-altered.js';
import { leafHash } from '../../domain/log/merkle-tree.js';
import { commitTo, isSealedTextError } from '../../domain/privacy/data-key.js';
import type { PayloadSealer } from '../../domain/privacy/payload-sealer.js';
import { type EventDocument, type EventSeal, toEvent } from '../event/event-document.js';
import { type DeliveryDocument, type ListedDocument, toListed } from './archive-documents.js';

/** The log that proves what is archived. */
export interface RecordLog {
  /** @returns the numbers of the records in it */
  append(records: readonly string[]): Promise<number[]>;
  /**
   * Leaves by their numbers, those that there are. They are what is stored: whether that is what was signed is for the
   * log to find out.
   */
  leavesAt(numbers: readonly number[]): Promise<ReadonlyMap<number, Buffer>>;
}

/** A delivery as it is stored, opened as far as its key exists. */
export interface OpenedDelivery {
  archived: ArchivedDelivery;
  /** Number of its record in the log, as the document says. */
  leafIndex: number;
  /** It is not what was archived; absent if it is. */
  altered?: RecordAlteredError;
}

/** An event as it is stored, opened as far as its key exists. */
export interface OpenedEvent {
  event: ArchivedEvent;
  /** It is not what was archived; absent if it is. */
  altered?: RecordAlteredError;
}

type Recorded = Pick<DeliveryDocument, '_id' | 'record' | 'leaf_index'>;

/**
 * Reads documents of the archive, and sees whether they are as they were written. Whoever can write to MongoDB can
 * alter them; but the log has a leaf of each record, the record has or commits to all that is shown with it, and an
 * event commits to its payload.
 */
export class UnalteredReader {
  private readonly log: Pick<RecordLog, 'leavesAt'>;
  private readonly sealer: PayloadSealer;
  private readonly eventModel: Model<EventDocument>;
  private readonly eventSeal: EventSeal;

  constructor(
    log: Pick<RecordLog, 'leavesAt'>,
    sealer: PayloadSealer,
    eventModel: Model<EventDocument>,
    eventSeal: EventSeal,
  ) {
    this.log = log;
    this.sealer = sealer;
    this.eventModel = eventModel;
    this.eventSeal = eventSeal;
  }

  /** Deliveries as lists show them. @throws RecordAlteredError for the first that was altered */
  async listed(documents: readonly ListedDocument[]): Promise<ListedDelivery[]> {
    await this.requireLeaves(documents);
    return documents.map((document) => {
      const listed = toListed(document);
      requireIntact({ ...listed, detail: undefined, timeline: undefined }, undefined);
      return listed;
    });
  }

  /**
   * Deliveries as they are read by themselves, each with what is wrong with it.
   *
   * @param wrong with their leaves, if that is known
   */
  async opened(
    documents: readonly DeliveryDocument[],
    wrong: readonly (string | undefined)[] | undefined = undefined,
  ): Promise<OpenedDelivery[]> {
    const leaves = wrong ?? (await this.wrongLeaves(documents));
    const keys = await this.keysOf(documents);
    return Promise.all(
      documents.map(async (document, at) => {
        const { _id, detail, event_id, leaf_index: leafIndex } = document;
        const opened = await this.open(document, detail ?? keys.get(event_id));
        const how = leaves[at];
        const altered = how !== undefined && { altered: new RecordAlteredError(_id, how) };
        return { ...opened, leafIndex, ...altered };
      }),
    );
  }

  /** @param key a text that names the key of its event; absent if nothing does any more */
  private async open(
    { detail, timeline, ...listed }: DeliveryDocument,
    key: string | undefined,
  ): Promise<Omit<OpenedDelivery, 'leafIndex'>> {
    const { _id: id, record, account_id: accountId, event_id: eventId, revision } = listed;
    const context = { accountId, eventId };
    let archived: ArchivedDelivery = { ...toListed(listed), record, detail: undefined, timeline: undefined };
    if (!isText(detail) || !isText(timeline))
      return { archived, altered: new RecordAlteredError(id, 'has a detail or timeline that is not a text') };
    try {
      const [openedDetail, openedTimeline, salt] = await Promise.all([
        detail ? this.sealer.open(context, detail) : undefined,
        timeline ? this.sealer.open(context, timeline) : undefined,
        key === undefined ? undefined : this.sealer.salt(context, key, saltPurposes({ id, revision }).view),
      ]);
      archived = { ...archived, detail: openedDetail, timeline: openedTimeline };
      requireIntact(archived, salt);
      return { archived };
    } catch (error) {
      if (isRecordAltered(error)) return { archived, altered: error };
      if (!isSealedTextError(error)) throw error;
      const altered = new RecordAlteredError(id, 'has a text that does not open', { cause: error });
      return { archived, altered };
    }
  }

  /** An event with its payload. */
  async event(document: EventDocument): Promise<OpenedEvent> {
    const { _id: eventId, account_id: accountId, sealed, commitment, payload_bytes } = document;
    const altered = (how: string, cause?: unknown) => ({
      event: toEvent(document),
      altered: new RecordAlteredError(eventId, how, { cause }),
    });
    const wrong = this.eventSeal.whatIsWrong(document);
    if (wrong !== undefined) return altered(wrong);
    if (sealed === undefined || sealed === null) return { event: toEvent(document) };
    if (typeof sealed !== 'string') return altered('has a payload that is not a text');
    try {
      const context = { accountId, eventId };
      const payload = await this.sealer.open(context, sealed);
      const salt = payload === undefined ? undefined : await this.sealer.salt(context, sealed);
      const isSame =
        payload === undefined ||
        (Buffer.byteLength(payload) === payload_bytes && (!salt || commitTo(salt, payload) === commitment));
      return isSame
        ? { event: toEvent(document, payload) }
        : altered('has another payload than it commits to');
    } catch (error) {
      if (!isSealedTextError(error)) throw error;
      return altered('has a payload that does not open', error);
    }
  }

  /** @throws RecordAlteredError for the first event that is not what was written, apart from its payload */
  requireEvents(documents: readonly EventDocument[]): void {
    for (const document of documents) {
      const wrong = this.eventSeal.whatIsWrong(document);
      if (wrong !== undefined) throw new RecordAlteredError(document._id, wrong);
    }
  }

  /** @throws RecordAlteredError unless the log has a leaf of each record, where its document says */
  async requireLeaves(documents: readonly Recorded[]): Promise<void> {
    const wrong = await this.wrongLeaves(documents);
    const at = wrong.findIndex((how) => how !== undefined);
    if (at >= 0) throw new RecordAlteredError(documents[at]?._id ?? '', wrong[at] ?? '');
  }

  /** For each document what is wrong with its leaf; `undefined` if nothing is. */
  async wrongLeaves(documents: readonly Recorded[]): Promise<(string | undefined)[]> {
    const leaves = await this.log.leavesAt(documents.map(({ leaf_index }) => leaf_index));
    return documents.map(({ record, leaf_index }) =>
      isLeafOf(leaves.get(leaf_index), record)
        ? undefined
        : `has a record that is not the one of leaf ${leaf_index} of the log`,
    );
  }

  /** Names the keys of the events of those that do not name it themselves, as long as anything is kept of them. */
  private async keysOf(documents: readonly DeliveryDocument[]): Promise<Map<string, string>> {
    const ids = documents.filter(({ detail }) => !detail).map(({ event_id }) => event_id);
    if (ids.length === 0) return new Map();
    const found = await this.eventModel.find({ _id: { $in: [...new Set(ids)] } }, { key: 1 }).lean();
    return new Map(found.map(({ _id, key }) => [_id, key]));
  }
}

/** Whether a leaf is that of a record, whatever stands there as a record. */
function isLeafOf(leaf: Buffer | undefined, record: unknown): boolean {
  return leaf !== undefined && typeof record === 'string' && leafHash(record).equals(leaf);
}

/** What MongoDB has may be anything. */
function isText(stored: unknown): boolean {
  return stored === undefined || stored === null || typeof stored === 'string';
}
