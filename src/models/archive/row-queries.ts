import type { Model } from 'mongoose';
import {
  type ArchivedEvent,
  FIRST_OPEN_POSITION,
  type ListedDelivery,
} from '../../domain/archive/archived.js';
import type { EventRange, OpenFilter, RowSearch } from '../../domain/archive/row-search.js';
import { inParts } from '../../domain/basics/bounded-memory.js';
import type { OpenStatus } from '../../domain/delivery/delivery.js';
import type { EndpointKey } from '../../domain/endpoint/endpoint-key.js';
import type { DeliveryFilter, EventFilter } from '../../domain/list/delivery-filter.js';
import type { EventDocument } from '../event/event-document.js';
import { withoutNulls } from '../mongo/collection.js';
import { inOnePass } from '../mongo/in-order.js';
import { type DeliveryDocument, type ListedDocument, UNLISTED } from './archive-documents.js';
import { deliveryConditions, eventConditions } from './conditions.js';
import type { UnalteredReader } from './unaltered.js';

/** Ids in one query. */
const IDS_AT_ONCE = 500;

/** Comes last in a query: the embedded server looks at conditions in their order. */
const OPEN = { position: { $gte: FIRST_OPEN_POSITION } };

/** Finds rows and events for releases, replays, counts and erasures. */
export class RowQueries implements RowSearch {
  private readonly model: Model<DeliveryDocument>;
  private readonly eventModel: Model<EventDocument>;
  private readonly unaltered: UnalteredReader;

  constructor(model: Model<DeliveryDocument>, eventModel: Model<EventDocument>, unaltered: UnalteredReader) {
    this.model = model;
    this.eventModel = eventModel;
    this.unaltered = unaltered;
  }

  async open(filter: OpenFilter, limit: number): Promise<ListedDelivery[]> {
    const found = this.model.find({ ...withoutNulls(filter), ...OPEN }, UNLISTED).limit(limit);
    return this.unaltered.listed(await found.lean<ListedDocument[]>());
  }

  async waiting(
    { account_id, endpoint_id }: EndpointKey,
    statuses: readonly OpenStatus[],
    after: string | undefined,
    limit: number,
  ): Promise<ListedDelivery[]> {
    const status = statuses.length === 1 ? statuses[0] : { $in: [...statuses] };
    const position = after === undefined ? OPEN.position : { $gt: after };
    const found = await this.model
      .find({ account_id, endpoint_id, status, position }, UNLISTED)
      .sort({ position: 1 })
      .limit(limit)
      .lean<ListedDocument[]>();
    return this.unaltered.listed(found);
  }

  async some(accountId: string, ids: readonly string[]): Promise<Map<string, ListedDelivery>> {
    const some = new Map<string, ListedDelivery>();
    for (const $in of inParts(ids, IDS_AT_ONCE)) {
      const found = await this.model.find({ _id: { $in } }, UNLISTED).lean<ListedDocument[]>();
      const own = found.filter(({ account_id }) => account_id === accountId);
      for (const listed of await this.unaltered.listed(own)) some.set(listed.id, listed);
    }
    return some;
  }

  async ofEvents(
    account_id: string,
    filter: DeliveryFilter,
    { from, until }: EventRange,
    limit: number,
  ): Promise<ListedDelivery[]> {
    const found = await this.model
      .find({ account_id, ...deliveryConditions(filter), event_id: { $gte: from, $lt: until } }, UNLISTED)
      .sort({ event_id: 1 })
      .limit(limit)
      .lean<ListedDocument[]>();
    return this.unaltered.listed(found);
  }

  async ofEvent(
    account_id: string,
    filter: DeliveryFilter,
    event_id: string,
    after: string,
    limit: number,
  ): Promise<ListedDelivery[]> {
    const found = await this.model
      .find({ account_id, event_id, ...deliveryConditions(filter), _id: { $gt: after } }, UNLISTED)
      .sort({ _id: 1 })
      .limit(limit)
      .lean<ListedDocument[]>();
    return this.unaltered.listed(found);
  }

  async events(
    account_id: string,
    filter: EventFilter,
    { from, until }: EventRange,
    limit: number,
  ): Promise<ArchivedEvent[]> {
    const found = await this.eventModel
      .find({ account_id, ...eventConditions(filter), _id: { $gte: from, $lt: until } })
      .sort({ _id: 1 })
      .limit(limit)
      .lean();
    return Promise.all(
      found.map(async (document) => {
        const { event, altered } = await this.unaltered.event(document);
        if (altered) throw altered;
        return event;
      }),
    );
  }

  async *marked(account_id: string, mark: string, which: 'open' | 'all'): AsyncIterable<ListedDelivery[]> {
    const asked = { account_id, marks: mark, ...(which === 'open' && OPEN) };
    for await (const some of inOnePass(this.model.find(asked, UNLISTED)))
      yield this.unaltered.listed(some as ListedDocument[]);
  }

  async keyOf(eventId: string): Promise<string | undefined> {
    return (await this.eventModel.findOne({ _id: eventId }, { key: 1 }).lean())?.key;
  }
}
