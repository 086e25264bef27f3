import type { Model } from 'mongoose';
import { UNITS } from '../../domain/basics/duration.js';
import { sharedNow } from '../../domain/time/shared-time.js';
import type { EventDocument } from '../event/event-document.js';
import { inOnePass } from '../mongo/in-order.js';
import type { DeliveryDocument } from './row-documents.js';
import type { UnalteredReader } from './unaltered.js';

/** Documents that expire within this may be gone already, milliseconds: MongoDB removes them now and then. */
const GOING_MS = UNITS.h;

/** A closed row as it is stored. */
export type ClosedRow = Pick<DeliveryDocument, '_id' | 'revision'> & { record: string; segment: string };

/** A delivery as it was looked at. */
export interface AuditedDelivery {
  id: string;
  /** Absent while it is open. */
  row?: ClosedRow;
  /** When the row was written, milliseconds since the epoch. */
  keptAt: number;
  /** The record, if the row is what was written. */
  record: { closed_at?: string; payload_commitment?: string; sequence?: number } | undefined;
  /** Difference, as of `RecordAlteredError`. */
  how: string | undefined;
}

/** A stored event as it was looked at. */
export interface AuditedEvent {
  id: string;
  how: string | undefined;
  /** Name of the event in records of its deliveries. */
  name: string;
}

/** Whether an event of this name (`AuditedEvent`) was looked at. Other records are looked for one by one. */
export type HasEvent = (name: string) => boolean;

/**
 * Looks at everything that is stored, of all accounts, in one pass over each collection. The memory of a pass is
 * bounded.
 */
export class RecordAudit {
  private readonly deliveryModel: Model<DeliveryDocument>;
  private readonly eventModel: Model<EventDocument>;
  private readonly unaltered: UnalteredReader;

  constructor(
    deliveryModel: Model<DeliveryDocument>,
    eventModel: Model<EventDocument>,
    unaltered: UnalteredReader,
  ) {
    this.deliveryModel = deliveryModel;
    this.eventModel = eventModel;
    this.unaltered = unaltered;
  }

  /**
   * Deliveries, open ones as well, in the order in which they were written, as far as the server keeps it: those of a
   * segment together.
   *
   * @param hasEvent knows the events that were looked at before
   */
  async *deliveries(hasEvent: HasEvent): AsyncIterable<AuditedDelivery[]> {
    for await (const some of inOnePass<DeliveryDocument>(this.deliveryModel.find()))
      yield this.lookAt(some, hasEvent);
  }

  /** The records that are kept now of some deliveries, by id. */
  async standing(
    ids: readonly string[],
  ): Promise<Map<string, Pick<DeliveryDocument, 'revision' | 'record'>>> {
    const found = await this.deliveryModel
      .find({ _id: { $in: [...new Set(ids)] } }, { revision: 1, record: 1 })
      .lean();
    return new Map(found.map(({ _id, revision, record }) => [_id, { revision, record }]));
  }

  async *events(): AsyncIterable<AuditedEvent> {
    for await (const some of inOnePass(this.eventModel.find()))
      yield* await Promise.all(
        some.map(async (document) => {
          const { altered } = await this.unaltered.event(document);
          const { _id: id, commitment, sequence } = document;
          return { id, how: altered?.how, name: eventName(id, commitment, sequence) };
        }),
      );
  }

  private async lookAt(
    documents: readonly DeliveryDocument[],
    hasEvent: HasEvent,
  ): Promise<AuditedDelivery[]> {
    const opened = await this.unaltered.opened(documents);
    const records = documents.map(({ record }, at) =>
      opened[at]?.altered || typeof record !== 'string'
        ? undefined
        : (JSON.parse(record) as AuditedDelivery['record']),
    );
    const isKnown = documents.map(({ event_id }, at) => {
      const { payload_commitment = '', sequence } = records[at] ?? {};
      return hasEvent(eventName(event_id, payload_commitment, sequence));
    });
    const others = documents.filter((_, at) => records[at] && !isKnown[at]);
    const events = await this.eventsOf(others.map(({ event_id }) => event_id));
    return documents.map((document, at) => {
      const { _id: id, event_id } = document;
      const record = records[at];
      const how =
        opened[at]?.altered?.how ??
        (isKnown[at] ? undefined : wrongEvent(record, events.get(event_id), document));
      const row = isClosed(document) && { row: document };
      return { ...row, id, keptAt: Number(document.kept_at), record, how };
    });
  }

  private async eventsOf(ids: readonly string[]) {
    if (ids.length === 0) return new Map<string, never>();
    const found = await this.eventModel
      .find({ _id: { $in: [...new Set(ids)] } }, { commitment: 1, sequence: 1 })
      .lean();
    return new Map(found.map((event) => [event._id, event]));
  }
}

function isClosed(row: DeliveryDocument): row is DeliveryDocument & ClosedRow {
  return typeof row.record === 'string' && typeof row.segment === 'string';
}

function eventName(id: string, commitment: string, sequence: number | null | undefined): string {
  return `${id} ${commitment} ${sequence ?? ''}`;
}

/** @param event what is stored of it; absent if nothing is */
function wrongEvent(
  record: AuditedDelivery['record'],
  event: Pick<EventDocument, 'commitment' | 'sequence'> | undefined,
  { expires_at, event_id }: DeliveryDocument,
): string | undefined {
  if (!record) return undefined;
  if (!event) {
    // Both go at the same time, one a little before the other.
    const isGoing = expires_at ? expires_at.getTime() < sharedNow() + GOING_MS : false;
    return isGoing ? undefined : `has no event: ${event_id} is not there`;
  }
  if (record.payload_commitment !== undefined && record.payload_commitment !== event.commitment)
    return `has a record of another payload than that of ${event_id}`;
  if (record.sequence !== (event.sequence ?? undefined))
    return `has a record of another number than that of ${event_id}`;
  return undefined;
}
