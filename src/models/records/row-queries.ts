import type { Model } from 'mongoose';
import { inParts } from '../../domain/basics/bounded-memory.js';
import { type DeliveryKey, deliveryId } from '../../domain/basics/delivery-id.js';
import type { OpenStatus } from '../../domain/delivery/delivery.js';
import type { EndpointKey } from '../../domain/endpoint/endpoint-key.js';
import type { DeliveryFilter, EventFilter } from '../../domain/list/delivery-filter.js';
import type { EventRange, OpenFilter, RowSearch, WithoutRow } from '../../domain/records/row-search.js';
import { type EventRow, FIRST_OPEN_POSITION, type ListedDelivery } from '../../domain/records/stored.js';
import type { EventDocument } from '../event/event-document.js';
import { withoutNulls } from '../mongo/collection.js';
import { inOnePass } from '../mongo/in-order.js';
import { deliveryConditions, eventConditions } from './conditions.js';
import { type DeliveryDocument, type ListedDocument, UNLISTED } from './row-documents.js';
import type { UnalteredReader } from './unaltered.js';

/** Ids in one query. */
const IDS_AT_ONCE = 500;
/** Deliveries of events that are looked for together. */
const TARGETS_AT_ONCE = 2_000;

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

  /** Names of all open deliveries, those of the oldest events first, some at once. They are not looked at. */
  async *everyOpen(): AsyncIterable<(DeliveryKey & { account_id: string })[]> {
    for (let last: string = FIRST_OPEN_POSITION; ; ) {
      const some = await this.model
        .find({ position: { $gt: last } }, { account_id: 1, event_id: 1, endpoint_id: 1, position: 1 })
        .sort({ position: 1 })
        .limit(IDS_AT_ONCE)
        .lean();
      const end = some.at(-1);
      if (!end) return;
      yield some.map(({ account_id, event_id, endpoint_id }) => ({ account_id, event_id, endpoint_id }));
      last = end.position;
    }
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

  existing(ids: readonly string[]): Promise<ReadonlySet<string>> {
    return this.amongIds(ids, {});
  }

  closed(ids: readonly string[]): Promise<ReadonlySet<string>> {
    return this.amongIds(ids, { position: { $lt: FIRST_OPEN_POSITION } });
  }

  private async amongIds(ids: readonly string[], condition: object): Promise<ReadonlySet<string>> {
    const found = new Set<string>();
    for (const $in of inParts(ids, IDS_AT_ONCE))
      for (const { _id } of await this.model.find({ _id: { $in }, ...condition }, { _id: 1 }).lean())
        found.add(_id);
    return found;
  }

  async ofEvents(
    account_id: string,
    filter: DeliveryFilter,
    range: EventRange,
    limit: number,
  ): Promise<ListedDelivery[]> {
    const event_id = idsIn(range, filter.event_id);
    const found = await this.model
      .find({ account_id, ...deliveryConditions(filter), event_id }, UNLISTED)
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
    range: EventRange,
    limit: number,
  ): Promise<EventRow[]> {
    const found = await this.eventModel
      .find({ account_id, ...eventConditions(filter), _id: idsIn(range, filter.event_id) })
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

  async withoutRows(
    account_id: string | undefined,
    range: EventRange,
    limit: number,
  ): Promise<{ found: WithoutRow[]; looked: number; last?: string | undefined }> {
    const stored = await this.eventModel
      .find({ ...withoutNulls({ account_id }), _id: idsIn(range) }, { sealed: 0 })
      .sort({ _id: -1 })
      .limit(limit)
      .lean();
    const events = this.unaltered.events(stored);
    const looked = events.slice(0, fittingTargets(events));
    const all = looked.flatMap(({ _id: event_id, account_id, event_kind, marks, targets }) =>
      (targets ?? []).map(({ endpoint_id }) => ({
        ...{ account_id, event_id, event_kind, endpoint_id },
        marks: marks ?? [],
      })),
    );
    const there = await this.existing(all.map(deliveryId));
    const found = all.filter((one) => !there.has(deliveryId(one)));
    return {
      ...{ found, looked: looked.length },
      last: looked.length < limit && looked.length === events.length ? undefined : looked.at(-1)?._id,
    };
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

/** Number of events, at least one, that are read together. */
function fittingTargets(events: readonly { targets?: readonly unknown[] | null }[]): number {
  let sum = 0;
  const over = events.findIndex(({ targets }, index) => {
    sum += targets?.length ?? 0;
    return index > 0 && sum > TARGETS_AT_ONCE;
  });
  return over < 0 ? events.length : over;
}

/** The condition of the ids of events in a range. @param only the one that is asked for; absent: all */
function idsIn({ from, until }: EventRange, only?: string) {
  if (only === undefined) return { $gte: from, $lt: until };
  return { $in: only >= from && only < until ? [only] : [] };
}
