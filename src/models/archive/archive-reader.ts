import type { Model } from 'mongoose';
import type {
  ArchivedDelivery,
  ArchivedEvent,
  ArchiveFilter,
  ArchiveReads,
  ListedDelivery,
  Range,
} from '../../domain/archive/archived.js';
import type { AttemptFilter } from '../../domain/archive/attempt-filter.js';
import { type RecordKey, saltPurposes } from '../../domain/archive/commitments.js';
import { isClosed, SHOWN_STATUSES, type ShownStatus } from '../../domain/delivery/delivery.js';
import type { PayloadContext, PayloadSealer } from '../../domain/privacy/payload-sealer.js';
import {
  type DeliveryDocument,
  type EventDocument,
  type ListedDocument,
  toEvent,
  toListed,
} from './archive-documents.js';
import { ArchiveExport } from './archive-export.js';
import { type OpenedDelivery, openDelivery } from './open-delivery.js';

/** What lists leave in the database: it is most of a document. */
const UNLISTED = { record: 0, detail: 0, timeline: 0 } as const;

const CLOSED = SHOWN_STATUSES.filter(isClosed);

/** Reads what is archived. */
export class ArchiveReader implements ArchiveReads {
  protected readonly deliveryModel: Model<DeliveryDocument>;
  protected readonly eventModel: Model<EventDocument>;
  protected readonly sealer: PayloadSealer;
  readonly export: ArchiveExport;

  constructor(
    deliveryModel: Model<DeliveryDocument>,
    eventModel: Model<EventDocument>,
    sealer: PayloadSealer,
  ) {
    this.sealer = sealer;
    this.deliveryModel = deliveryModel;
    this.eventModel = eventModel;
    this.export = new ArchiveExport(deliveryModel, eventModel, sealer);
  }

  /** @throws RecordAlteredError if it is not what was archived */
  async delivery(accountId: string, id: string): Promise<ArchivedDelivery | undefined> {
    const { archived, altered } = (await this.stored(accountId, id)) ?? {};
    if (altered) throw altered;
    return archived;
  }

  /** A delivery as it is stored, whether or not it is what was archived. */
  async stored(accountId: string, id: string): Promise<OpenedDelivery | undefined> {
    const document = await this.deliveryModel.findOne({ _id: id }).lean();
    if (document?.account_id !== accountId) return undefined;
    return openDelivery(this.sealer, document, document.detail ?? (await this.keyOf(document.event_id)));
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

  /** @throws RecordAlteredError if one of them is not what was archived */
  async whole(accountId: string, ids: readonly string[]): Promise<Map<string, ArchivedDelivery>> {
    const whole = await Promise.all(ids.map((id) => this.delivery(accountId, id)));
    return new Map(whole.flatMap((one) => (one ? [[one.id, one] as const] : [])));
  }

  /** The canonical record of a delivery, and its number in the log. */
  async record(
    accountId: string,
    id: string,
  ): Promise<{ text: string; leafIndex: number; eventId: string } | undefined> {
    const document = await this.deliveryModel
      .findOne({ _id: id }, { account_id: 1, record: 1, leaf_index: 1, event_id: 1 })
      .lean();
    if (document?.account_id !== accountId) return undefined;
    const { record: text, leaf_index: leafIndex, event_id: eventId } = document;
    return { text, leafIndex, eventId };
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
    return found.map(toListed).sort((a, b) => (a.position < b.position ? 1 : -1));
  }

  async deliveries(
    accountId: string,
    filter: ArchiveFilter,
    range: Range,
    limit: number,
  ): Promise<ListedDelivery[]> {
    const { statuses } = filter;
    // Everything here is closed, so that asking for all that is closed asks for nothing. One query for each status keeps the order of an index.
    const isAny = !statuses || CLOSED.every((status) => statuses.includes(status));
    const asked = isAny ? [undefined] : statuses;
    const found = await Promise.all(
      asked.map((status) => this.deliveriesWith(accountId, filter, status, range, limit)),
    );
    return found
      .flat()
      .sort((a, b) => (a.position < b.position ? 1 : -1))
      .slice(0, limit);
  }

  private async deliveriesWith(
    accountId: string,
    filter: ArchiveFilter,
    status: ShownStatus | undefined,
    range: Range,
    limit: number,
  ): Promise<ListedDelivery[]> {
    const { endpoint_id, error_code, status_code, any_attempt } = filter;
    const found = await this.deliveryModel
      .find(
        {
          ...conditionsOf(accountId, filter),
          ...ofEvents(filter),
          ...(endpoint_id !== undefined && { endpoint_id }),
          ...(status !== undefined && { status }),
          ...(error_code !== undefined && { error_code }),
          ...(status_code !== undefined && { status_code }),
          ...(any_attempt && hasAttempt(any_attempt)),
          ...within(range),
        },
        UNLISTED,
      )
      .sort({ position: -1 })
      .limit(limit)
      .lean<ListedDocument[]>();
    return found.map(toListed);
  }

  async event(accountId: string, id: string): Promise<ArchivedEvent | undefined> {
    const document = await this.eventModel.findOne({ _id: id }).lean();
    if (document?.account_id !== accountId) return undefined;
    const { sealed } = document;
    return toEvent(document, sealed ? await this.sealer.open({ accountId, eventId: id }, sealed) : undefined);
  }

  async events(
    accountId: string,
    filter: ArchiveFilter,
    range: Range,
    limit: number,
  ): Promise<ArchivedEvent[]> {
    const { event_id } = filter;
    const found = await this.eventModel
      .find({
        ...conditionsOf(accountId, filter),
        ...(event_id !== undefined && { _id: event_id }),
        // An event without a position is not listed: what stands for it in lists is open.
        ...within({ ...range, above: range.above ?? '' }),
      })
      .sort({ position: -1 })
      .limit(limit)
      .lean();
    return found.map((document) => toEvent(document));
  }

  /** The payload of an event as it is stored, sealed; `undefined` if it is no longer kept. */
  async storedPayload(accountId: string, eventId: string): Promise<string | undefined> {
    const document = await this.eventModel.findOne({ _id: eventId }).lean();
    return document?.account_id === accountId ? (document.sealed ?? undefined) : undefined;
  }
}

/** What lists of deliveries and of events are narrowed down by alike. */
function conditionsOf(
  accountId: string,
  { event_kind, key_token, created_after, created_before }: ArchiveFilter,
) {
  return {
    account_id: accountId,
    ...(event_kind !== undefined && { event_kind }),
    ...(key_token !== undefined && { keys: key_token }),
    ...((created_after || created_before) && {
      accepted_at: {
        ...(created_after && { $gt: created_after }),
        ...(created_before && { $lt: created_before }),
      },
    }),
  };
}

/** What is told of attempts without reading them. */
function hasAttempt({ error_code, status_code, longer_than_ms }: AttemptFilter) {
  const result = error_code ?? (status_code === undefined ? undefined : String(status_code));
  return {
    ...(result !== undefined && { results: result }),
    ...(longer_than_ms !== undefined && { longest_ms: { $gt: longer_than_ms } }),
  };
}

/** Comes last in a query: the embedded server looks at conditions in their order, and this one selects least. */
function within({ above, below }: Range) {
  if (above === undefined && below === undefined) return {};
  return {
    position: { ...(above !== undefined && { $gt: above }), ...(below !== undefined && { $lt: below }) },
  };
}

function ofEvents({ event_id, event_ids }: ArchiveFilter) {
  if (event_ids) return { event_id: { $in: [...event_ids] } };
  return event_id === undefined ? {} : { event_id };
}
