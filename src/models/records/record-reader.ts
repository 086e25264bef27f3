import type { Connection } from 'mongoose';
import { leafHash } from '../../../packages/tlog/src/index.js';
import { type DeliveryKey, deliveryId } from '../../domain/basics/delivery-id.js';
import { idsBeginAt } from '../../domain/basics/ids.js';
import { isClosed, OPEN_STATUSES, SHOWN_STATUSES, type ShownStatus } from '../../domain/delivery/delivery.js';
import type { EventPayloads } from '../../domain/delivery/stored-event.js';
import { type EventHead, idAt } from '../../domain/feed/feed.js';
import type { DeliveryFilter, EventFilter } from '../../domain/list/delivery-filter.js';
import type { PayloadContext, PayloadSealer } from '../../domain/privacy/payload-sealer.js';
import { type RecordKey, saltPurposes } from '../../domain/records/commitments.js';
import { RecordAlteredError } from '../../domain/records/record-altered.js';
import {
  type DeliveriesOf,
  type DeliveryRow,
  type EventRow,
  FIRST_OPEN_POSITION,
  type ListedDelivery,
  type Range,
  type RecordReads,
} from '../../domain/records/stored.js';
import { summaryIn } from '../../domain/records/stored-views.js';
import type { DeliverySummary } from '../../domain/view/delivery-view.js';
import { type EventSeal, events, toEvent } from '../event/event-document.js';
import type { LogRepository } from '../log/log.js';
import { leafIn, nameOf, type SegmentRepository } from '../log/segments.js';
import { withoutNulls } from '../mongo/collection.js';
import { inOrder } from '../mongo/in-order.js';
import type { DataKeyRepository } from '../privacy/data-keys.js';
import { deliveryConditions, eventConditions } from './conditions.js';
import { RecordAudit } from './record-audit.js';
import { deliveries, type ListedDocument, UNLISTED } from './row-documents.js';
import type { RowTags } from './row-tags.js';
import { type OpenedDelivery, type OpenedEvent, UnalteredReader, wrongIn } from './unaltered.js';

/** Events that are exported at once. */
const EVENTS_AT_ONCE = 50;

/** Proves what is stored, and opens what is sealed. */
export interface ReaderSources {
  sealer: PayloadSealer;
  payloads: Pick<EventPayloads, 'of'>;
  /** Whether a data key that is not there was erased. */
  keys: Pick<DataKeyRepository, 'wasErased'>;
  segments: SegmentRepository;
  /** Leaves are what is stored: whether that is what was signed is for the log to find out. */
  log: Pick<LogRepository, 'leavesAt'>;
}

/** From one time until before another. */
interface Period {
  from: Date;
  to: Date;
}

/** A stored event with its deliveries, in the order of their ids. */
export interface ExportedEvent extends OpenedEvent {
  deliveries: OpenedDelivery[];
}

/**
 * Reads rows and events. Each read fails with a `RecordAlteredError` if something of it was altered in the database.
 */
export class RecordReader implements RecordReads {
  protected readonly eventModel: ReturnType<typeof events>;
  protected readonly sealer: PayloadSealer;
  protected readonly deliveryModel: ReturnType<typeof deliveries>;
  protected readonly unaltered: UnalteredReader;
  private readonly sources: ReaderSources;
  readonly audit: RecordAudit;

  constructor(connection: Connection, sources: ReaderSources, tags: RowTags, eventSeal: EventSeal) {
    this.sources = sources;
    this.sealer = sources.sealer;
    this.deliveryModel = deliveries(connection);
    this.eventModel = events(connection);
    this.unaltered = new UnalteredReader(sources, tags, this.eventModel, eventSeal);
    this.audit = new RecordAudit(this.deliveryModel, this.eventModel, this.unaltered);
  }

  async delivery(accountId: string, id: string): Promise<DeliveryRow | undefined> {
    const { recorded, altered } = (await this.stored(accountId, id)) ?? {};
    if (altered) throw altered;
    return recorded;
  }

  /** A delivery as it is stored, whether or not it is what was written. */
  async stored(accountId: string, id: string): Promise<OpenedDelivery | undefined> {
    const document = await this.deliveryModel.findOne({ _id: id }).lean();
    if (document?.account_id !== accountId) return undefined;
    const [opened] = await this.unaltered.opened([document]);
    return opened;
  }

  /** The salt with which the details of a record are opened; `undefined` if the key of its event was erased. */
  async detailsSalt(event: PayloadContext, record: RecordKey): Promise<Buffer | undefined> {
    const key = await this.keyOf(event.eventId);
    return key === undefined ? undefined : this.sealer.salt(event, key, saltPurposes(record).details);
  }

  /** Names the key of an event, as long as anything is kept of it. */
  private async keyOf(eventId: string): Promise<string | undefined> {
    return (await this.eventModel.findOne({ _id: eventId }, { key: 1 }).lean())?.key;
  }

  async summary(accountId: string, id: string): Promise<DeliverySummary | undefined> {
    const document = await this.deliveryModel.findOne({ _id: id }, UNLISTED).lean<ListedDocument>();
    if (document?.account_id !== accountId) return undefined;
    const [listed] = await this.unaltered.listed([document]);
    return listed && summaryIn(listed);
  }

  async payloadsOf(
    asked: readonly { accountId: string; eventId: string }[],
    maxBytes: number,
  ): Promise<Map<string, string>> {
    const accountOf = new Map(asked.map(({ accountId, eventId }) => [eventId, accountId]));
    const found = await this.eventModel
      .find({ _id: { $in: [...accountOf.keys()] }, payload_bytes: { $lte: maxBytes } })
      .lean();
    const payloads = await Promise.all(
      found
        .filter(({ _id, account_id }) => accountOf.get(_id) === account_id)
        .map(async (document) => {
          const { event, altered } = await this.unaltered.event(document);
          if (altered) throw altered;
          return event.payload === undefined ? [] : [[event.id, event.payload] as const];
        }),
    );
    return new Map(payloads.flat());
  }

  /**
   * The canonical record of a closed delivery, and its number in the log; without one if the log does not have it yet.
   *
   * @throws RecordAlteredError if it is not the one that was written, or not the one of that number
   */
  async record(
    accountId: string,
    id: string,
  ): Promise<{ text: string; leafIndex: number | undefined; eventId: string } | undefined> {
    const document = await this.deliveryModel.findOne({ _id: id }, UNLISTED).lean<ListedDocument>();
    if (document?.account_id !== accountId) return undefined;
    await this.unaltered.listed([document]);
    const { record: text, event_id: eventId } = document;
    if (!text) return undefined;
    const leafIndex = await this.leafOf(document);
    return { text, leafIndex, eventId };
  }

  /**
   * The number of a record in the log; `undefined` as long as the log does not have it.
   *
   * @throws RecordAlteredError if its segment is not what was written, or does not name it, or the leaf is of another
   */
  async leafOf(
    row: Pick<ListedDocument, '_id' | 'revision' | 'record' | 'segment'>,
  ): Promise<number | undefined> {
    const { _id: id, segment: name, record } = row;
    if (!name || !record) return undefined;
    const segment = (await this.sources.segments.find([name])).get(name);
    if (!segment) return undefined;
    const how = wrongIn(segment, row);
    if (how !== undefined) throw new RecordAlteredError(id, how);
    const leaf = leafIn(segment, nameOf({ id, revision: row.revision }));
    if (leaf === undefined) return undefined;
    const stored = (await this.sources.log.leavesAt([leaf])).get(leaf);
    if (!stored?.equals(leafHash(record)))
      throw new RecordAlteredError(id, `has a record that is not the one of leaf ${leaf} of the log`);
    return leaf;
  }

  async deliveriesOf(
    accountId: string,
    eventIds: readonly string[],
    limit: number,
  ): Promise<ListedDelivery[]> {
    const found = await this.deliveryModel
      .find({ account_id: accountId, event_id: { $in: [...eventIds] } }, UNLISTED)
      .limit(limit)
      .lean<ListedDocument[]>();
    return (await this.unaltered.listed(found)).sort((a, b) => (a.position < b.position ? 1 : -1));
  }

  async countOf(accountId: string, eventId: string, most: number): Promise<number> {
    return this.deliveryModel.countDocuments({ account_id: accountId, event_id: eventId }, { limit: most });
  }

  /** The ids of an event's rows, in order, whether somebody has altered them or not. */
  async deliveryIdsOf(accountId: string, eventId: string, limit: number): Promise<string[]> {
    const found = await this.deliveryModel
      .find({ account_id: accountId, event_id: eventId }, { _id: 1 })
      .sort({ _id: 1 })
      .limit(limit)
      .lean();
    return found.map(({ _id }) => _id);
  }

  async deliveries(
    accountId: string | undefined,
    filter: DeliveriesOf,
    range: Range,
    limit: number,
  ): Promise<ListedDelivery[]> {
    const { statuses = SHOWN_STATUSES } = filter;
    const read = (some: readonly ShownStatus[] | undefined, within: Range) =>
      this.deliveriesWith(accountId, { ...filter, statuses: some }, within, limit);
    const isAsked = (status: ShownStatus) => statuses.includes(status);
    if (SHOWN_STATUSES.every(isAsked)) return this.unaltered.listed(await read(undefined, range));
    const open = statuses.filter((status) => !isClosed(status));
    const { above = FIRST_OPEN_POSITION } = range;
    // Open deliveries go from one status to another, and so they are one query, before those of closed ones: what
    // closes meanwhile is found by both. It counts where it was open, or the page would end behind others that are.
    const first = OPEN_STATUSES.every(isAsked)
      ? await read(undefined, { ...range, above })
      : open.length > 0
        ? await read(open, range)
        : [];
    // One query for each status keeps the order of an index.
    const others = await Promise.all(statuses.filter(isClosed).map((status) => read([status], range)));
    const found = new Map([...others.flat(), ...first].map((row) => [row._id, row]));
    const sorted = [...found.values()].sort((a, b) => (a.position < b.position ? 1 : -1));
    return this.unaltered.listed(sorted.slice(0, limit));
  }

  private async deliveriesWith(
    accountId: string | undefined,
    filter: DeliveriesOf,
    range: Range,
    limit: number,
  ): Promise<ListedDocument[]> {
    const { event_ids, ...asked } = filter;
    return this.deliveryModel
      .find(
        {
          ...(accountId !== undefined && { account_id: accountId }),
          ...deliveryConditions(asked),
          ...(event_ids && { event_id: { $in: [...event_ids] } }),
          ...within(range),
        },
        UNLISTED,
      )
      .sort({ position: -1 })
      .limit(limit)
      .lean<ListedDocument[]>();
  }

  async firstOfEach(
    accountId: string,
    filter: DeliveryFilter,
    eventIds: readonly string[],
  ): Promise<ReadonlySet<string>> {
    const first = async (event_id: string): Promise<string[]> => {
      // Ids of deliveries begin with their event's, so that an event with many is not read whole. Its account is looked
      // at afterwards: the embedded server would take an index that begins with it, and read all that the account has.
      const [$gte, $lt] = ['ep_', 'ep_~'].map((endpoint_id) => deliveryId({ event_id, endpoint_id }));
      const found = await this.deliveryModel
        .find({ _id: { $gte, $lt }, ...deliveryConditions(filter) }, { account_id: 1 })
        .sort({ _id: 1 })
        .limit(1)
        .lean();
      return found.flatMap(({ _id, account_id }) => (account_id === accountId ? [_id] : []));
    };
    return new Set((await Promise.all(eventIds.map(first))).flat());
  }

  async event(accountId: string, id: string): Promise<EventRow | undefined> {
    const document = await this.eventModel.findOne({ _id: id }).lean();
    if (document?.account_id !== accountId) return undefined;
    const { event, altered } = await this.unaltered.event(document);
    if (altered) throw altered;
    return event;
  }

  async carriersOf(accountId: string, { event_id, endpoint_id }: DeliveryKey): Promise<readonly string[]> {
    const document = await this.eventModel
      .findOne({ _id: event_id }, { account_id: 1, targets: 1, carriers: 1 })
      .lean();
    if (document?.account_id !== accountId) return [];
    const { targets, carriers } = document;
    const { carrier } = targets.find((target) => target.endpoint_id === endpoint_id) ?? {};
    return carriers?.filter((_, index) => index === carrier) ?? [];
  }

  async events(
    accountId: string,
    filter: EventFilter,
    limit: number,
    after: string | undefined,
  ): Promise<EventRow[]> {
    // There is one with an id, so that no page follows the first.
    if (filter.event_id !== undefined && after !== undefined) return [];
    const found = await this.eventModel
      .find(
        {
          account_id: accountId,
          ...eventConditions(filter),
          // Comes last: the embedded server looks at conditions in their order, and this one selects least.
          ...(after !== undefined && { _id: { $lt: after } }),
        },
        { sealed: 0 },
      )
      .sort({ _id: -1 })
      .limit(limit)
      .lean();
    return this.unaltered.events(found).map((document) => toEvent(document));
  }

  /**
   * Events of an account as they tell of themselves without their payloads, in the order of their ids.
   *
   * @param which some ids, or all between two positions of the feed
   */
  async eventHeads(
    accountId: string,
    which: readonly string[] | { after: string; before: string },
    limit: number,
  ): Promise<EventHead[]> {
    if (!('after' in which) && which.length === 0) return [];
    const _id = 'after' in which ? { $gt: idAt(which.after), $lt: idAt(which.before) } : { $in: [...which] };
    const fields = { event_kind: 1, payload_bytes: 1, is_test: 1, named_endpoints: 1 } as const;
    const found = await this.eventModel
      .find({ account_id: accountId, _id }, fields)
      .sort({ _id: 1 })
      .limit(limit)
      .lean();
    return found.map(({ _id: id, event_kind: kind, payload_bytes, is_test, named_endpoints }) => ({
      ...{ id, kind, payload_bytes, is_test: is_test === true },
      is_addressed: Array.isArray(named_endpoints),
    }));
  }

  /** Some events of an account with their payloads, by id, whether somebody has altered them or not. */
  async eventsOf(accountId: string, ids: readonly string[]): Promise<Map<string, OpenedEvent>> {
    if (ids.length === 0) return new Map();
    const found = await this.eventModel.find({ _id: { $in: [...ids] }, account_id: accountId }).lean();
    const opened = await Promise.all(found.map((document) => this.unaltered.event(document)));
    return new Map(opened.map((one) => [one.event.id, one]));
  }

  /** The id of the event of an account with a number; `undefined` if none has it. */
  async eventNumbered(accountId: string, sequence: number): Promise<string | undefined> {
    return (await this.eventModel.findOne({ account_id: accountId, sequence }, { _id: 1 }).lean())?._id;
  }

  /** Events with one of some business keys, at most a number of them. @param accountOf whose each token is */
  async eventsWith(
    accountOf: ReadonlyMap<string, string>,
    limit: number,
  ): Promise<{ account_id: string; event_id: string; event_kind: string }[]> {
    if (accountOf.size === 0) return [];
    const found = await this.eventModel
      .find(
        { account_id: { $in: [...new Set(accountOf.values())] }, keys: { $in: [...accountOf.keys()] } },
        { account_id: 1, event_kind: 1 },
      )
      .limit(limit)
      .lean();
    return found.map(({ _id, account_id, event_kind }) => ({ account_id, event_id: _id, event_kind }));
  }

  /**
   * An account's events with their closed deliveries, event by event, in the order of their ids, which is that of their
   * acceptance.
   *
   * @param period in which the events were accepted
   * @param first the id of the event to begin with, if it is in the period; absent: the period's first
   */
  async *export(accountId: string, period: Period, first = ''): AsyncIterable<ExportedEvent> {
    const start = idsBeginAt('event', period.from.getTime());
    const $lt = idsBeginAt('event', period.to.getTime());
    const $gte = first > start ? first : start;
    const ofPeriod = (id: object) =>
      this.eventModel.find({ account_id: accountId, _id: { $gte, ...id, $lt } });
    for await (const events of inOrder(ofPeriod, '', EVENTS_AT_ONCE)) {
      const found = await this.deliveryModel
        .find({ account_id: accountId, event_id: { $in: events.map(({ _id }) => _id) } })
        .lean();
      const closed = found.filter(({ record }) => typeof record === 'string');
      const deliveries = await this.unaltered.opened(closed);
      deliveries.sort((a, b) => (a.recorded.id < b.recorded.id ? -1 : 1));
      for (const document of events) {
        const own = deliveries.filter(({ recorded }) => recorded.event_id === document._id);
        yield { ...(await this.unaltered.event(document)), deliveries: own };
      }
    }
  }

  /** The payload of an event as it is stored, sealed; `undefined` if it is no longer kept. */
  async storedPayload(accountId: string, eventId: string): Promise<string | undefined> {
    const document = await this.eventModel.findOne({ _id: eventId }).lean();
    return document?.account_id === accountId ? (document.sealed ?? undefined) : undefined;
  }
}

/** Comes last in a query: the embedded server looks at conditions in their order, and this one selects least. */
function within({ above, below }: Range) {
  if (above === undefined && below === undefined) return {};
  return { position: withoutNulls({ $gt: above, $lt: below }) };
}
