import type { Model } from 'mongoose';
import { idsBeginAt } from '../../domain/basics/ids.js';
import { type DeliveryDocument, type EventDocument, LOGGED } from './archive-documents.js';
import type { OpenedDelivery } from './open-delivery.js';
import type { OpenedEvent, UnalteredReader } from './unaltered.js';

/** Events that are read at once. */
const EVENTS_AT_ONCE = 50;

/** An archived event with its archived deliveries, in the order of their ids. */
export interface ExportedEvent extends OpenedEvent {
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
  private readonly unaltered: UnalteredReader;

  constructor(deliveries: Model<DeliveryDocument>, events: Model<EventDocument>, unaltered: UnalteredReader) {
    this.deliveries = deliveries;
    this.events = events;
    this.unaltered = unaltered;
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
        .find({ account_id: accountId, event_id: { $in: events.map(({ _id }) => _id) }, ...LOGGED })
        .lean();
      const deliveries = await this.unaltered.opened(found);
      deliveries.sort((a, b) => (a.archived.id < b.archived.id ? -1 : 1));
      for (const document of events) {
        const own = deliveries.filter(({ archived }) => archived.event_id === document._id);
        yield { ...(await this.unaltered.event(document)), deliveries: own };
      }
      condition = { $gt: last._id, $lt: end };
    }
  }
}
