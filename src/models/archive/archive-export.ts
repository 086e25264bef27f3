import type { Model } from 'mongoose';
import type { ArchivedEvent } from '../../domain/archive/archived.js';
import { idsBeginAt } from '../../domain/basics/ids.js';
import type { PayloadSealer } from '../../domain/privacy/payload-sealer.js';
import { type DeliveryDocument, type EventDocument, toEvent } from './archive-documents.js';
import { type OpenedDelivery, openDelivery } from './open-delivery.js';

/** Events that are read at once. */
const EVENTS_AT_ONCE = 50;

/** An archived event with its archived deliveries, in the order of their ids. */
export interface ExportedEvent {
  event: ArchivedEvent;
  deliveries: OpenedDelivery[];
}

/** What an export covers: events that were accepted from one time until before another. */
export interface ExportPeriod {
  from: Date;
  to: Date;
}

/** Reads an account's archive event by event, in the order of their ids, which is that of their acceptance. */
export class ArchiveExport {
  private readonly deliveries: Model<DeliveryDocument>;
  private readonly events: Model<EventDocument>;
  private readonly sealer: PayloadSealer;

  constructor(deliveries: Model<DeliveryDocument>, events: Model<EventDocument>, sealer: PayloadSealer) {
    this.deliveries = deliveries;
    this.events = events;
    this.sealer = sealer;
  }

  /** @param first the id of the event to begin with, if it is in the period; absent: the period's first */
  async *read(accountId: string, { from, to }: ExportPeriod, first?: string): AsyncIterable<ExportedEvent> {
    const end = idsBeginAt('event', to.getTime());
    const start = idsBeginAt('event', from.getTime());
    let condition: { $gte: string; $lt: string } | { $gt: string; $lt: string } = {
      $gte: first !== undefined && first > start ? first : start,
      $lt: end,
    };
    for (;;) {
      const events: EventDocument[] = await this.events
        .find({ account_id: accountId, _id: condition })
        .sort({ _id: 1 })
        .limit(EVENTS_AT_ONCE)
        .lean();
      const last = events.at(-1);
      if (!last) return;
      const found = await this.deliveries
        .find({ account_id: accountId, event_id: { $in: events.map(({ _id }) => _id) } })
        .lean();
      for (const document of events) yield await this.open(accountId, document, found);
      condition = { $gt: last._id, $lt: end };
    }
  }

  private async open(
    accountId: string,
    event: EventDocument,
    found: readonly DeliveryDocument[],
  ): Promise<ExportedEvent> {
    const context = { accountId, eventId: event._id };
    const open = async (sealed: string | null | undefined) =>
      sealed ? this.sealer.open(context, sealed) : undefined;
    const own = found
      .filter(({ event_id }) => event_id === event._id)
      .sort((a, b) => (a._id < b._id ? -1 : 1));
    const deliveries = await Promise.all(
      own.map((document) => openDelivery(this.sealer, document, document.detail ?? event.key)),
    );
    return { event: toEvent(event, await open(event.sealed)), deliveries };
  }
}
