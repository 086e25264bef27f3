import type { DeliveryKey } from '../basics/delivery-id.js';
import type { OpenStatus } from '../delivery/delivery.js';
import type { EndpointKey } from '../endpoint/endpoint-key.js';
import type { DeliveryFilter, EventFilter } from '../list/delivery-filter.js';
import type { EventRow, ListedDelivery } from './stored.js';

/** Which open deliveries to read. */
export interface OpenFilter {
  /** Absent: of all accounts, for the operator alone. */
  account_id?: string | undefined;
  endpoint_id?: string | undefined;
  event_kind?: string | undefined;
}

/** A part of the order of events' ids, which is that of their acceptance: from one id until before another. */
export interface EventRange {
  from: string;
  until: string;
}

/** A delivery of an event that has no row. */
export interface WithoutRow extends DeliveryKey {
  account_id: string;
  event_kind: string;
  /** Tokens of the event's subject. */
  marks: readonly string[];
}

/** Finds rows and events in other orders than lists show them. */
export interface RowSearch {
  /** Open deliveries, in any order. */
  open(filter: OpenFilter, limit: number): Promise<ListedDelivery[]>;
  /**
   * Open deliveries of an endpoint that have one of some statuses, those of the oldest events first.
   *
   * @param after position of the last one of an earlier page
   */
  waiting(
    endpoint: EndpointKey,
    statuses: readonly OpenStatus[],
    after: string | undefined,
    limit: number,
  ): Promise<ListedDelivery[]>;
  /** Deliveries by their ids. */
  some(accountId: string, ids: readonly string[]): Promise<Map<string, ListedDelivery>>;
  /** Those of some ids of deliveries that have a row. */
  existing(ids: readonly string[]): Promise<ReadonlySet<string>>;
  /** Those of some ids of deliveries that have a closed row. */
  closed(ids: readonly string[]): Promise<ReadonlySet<string>>;
  /** Deliveries of events in a range that match, by event, those of the oldest first. */
  ofEvents(
    accountId: string,
    filter: DeliveryFilter,
    range: EventRange,
    limit: number,
  ): Promise<ListedDelivery[]>;
  /** Deliveries of one event that match, by id. @param after id of the last one of an earlier page */
  ofEvent(
    accountId: string,
    filter: DeliveryFilter,
    eventId: string,
    after: string,
    limit: number,
  ): Promise<ListedDelivery[]>;
  /** Events in a range that match, with their payloads, the oldest first. */
  events(accountId: string, filter: EventFilter, range: EventRange, limit: number): Promise<EventRow[]>;
  /**
   * Deliveries of events in a range that have no row: nothing has happened to them yet, as far as is known.
   *
   * @param accountId absent: of all accounts
   * @returns with how many events were looked at, fewer where they have many deliveries; and with the id of the last of
   * them, of those of the latest first; absent: there are no more
   */
  withoutRows(
    accountId: string | undefined,
    range: EventRange,
    limit: number,
  ): Promise<{ found: WithoutRow[]; looked: number; last?: string | undefined }>;
  /** Deliveries of events that have a mark of their subject: it reads all of the account's. */
  marked(accountId: string, mark: string, which: 'open' | 'all'): AsyncIterable<ListedDelivery[]>;
  /** Names the data key of an event; `undefined` if nothing is kept of the event. */
  keyOf(eventId: string): Promise<string | undefined>;
}
