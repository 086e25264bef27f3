import type { AttemptErrorCode } from '../attempt/attempt.js';
import type { DeliveryKey } from '../basics/delivery-id.js';
import { ULID } from '../basics/id-time.js';
import type { ShownStatus } from '../delivery/delivery.js';
import type { AttemptSums } from '../list/attempt-filter.js';
import type { DeliveryFilter, EventFilter } from '../list/delivery-filter.js';
import type { DeliverySummary } from '../view/delivery-view.js';

/**
 * A delivery as it is stored, from its first attempt on. Fields that lists are filtered and sorted by are stored by
 * themselves; the rest is JSON text, as it is shown.
 */
export interface DeliveryRow extends AttemptSums {
  id: string;
  account_id: string;
  event_id: string;
  endpoint_id: string;
  event_kind: string;
  status: ShownStatus;
  /** When its event was accepted. */
  accepted_at: Date;
  /** Tokens of the event's business keys. */
  keys: readonly string[];
  /** How its latest attempt ended. */
  error_code?: AttemptErrorCode | undefined;
  status_code?: number | undefined;
  /** Where lists show it: see {@link positionOf}. */
  position: string;
  run_id: string;
  /** How often its run has told of itself: what is told later has a higher number. */
  turn: number;
  /**
   * Revision of the record: 1, and one more for each later record. While it is open, of the record that it will have.
   */
  revision: number;
  /** The canonical text of its `DeliveryRecord`; absent while it is open. */
  record?: string | undefined;
  /** JSON of the delivery as a list shows it. */
  summary: string;
  /**
   * JSON of what a delivery that is read by itself has besides: attempts, interventions, earlier runs, hash and size of
   * the payload. Absent if it cannot be read any more, because the key of its event was erased.
   */
  detail?: string | undefined;
  /** JSON of its timeline; absent likewise. */
  timeline?: string | undefined;
}

/** A row, as lists show it. */
export type ListedDelivery = Omit<DeliveryRow, 'detail' | 'timeline'>;

/** An event as it is stored. */
export interface EventRow {
  id: string;
  account_id: string;
  event_kind: string;
  accepted_at: Date;
  keys: readonly string[];
  /** As received; `undefined` once it is no longer kept, or if it was erased. */
  payload: string | undefined;
  /** The payload as it is kept, which names its data key; absent once it is no longer kept. */
  kept?: { sealed: string } | undefined;
  payload_bytes: number;
  /** Its number in the account's sequence; absent if it has none. */
  sequence?: number | undefined;
  /** It is a test of one endpoint. */
  is_test?: true | undefined;
  /** The endpoints that its producer named: it goes to no other. */
  named_endpoints?: readonly string[] | undefined;
  /** The endpoints that it goes to. */
  endpoint_ids: readonly string[];
  /** Tokens of the event's order key where an endpoint has it in an order, by endpoint. */
  order_of: ReadonlyMap<string, string>;
  /** Groups that carry deliveries, by endpoint; of some endpoints. */
  carrier_of: ReadonlyMap<string, string>;
  /** Ids of the groups that carry some of its deliveries. */
  carriers: readonly string[];
}

/** Deliveries of some events that match a filter. */
export interface DeliveriesOf extends DeliveryFilter {
  event_ids?: readonly string[] | undefined;
}

/** A part of the order of lists: positions between these two, both excluded; open where absent. */
export interface Range {
  above?: string | undefined;
  below?: string | undefined;
}

/** Reads of rows and events. */
export interface RecordReads {
  delivery(accountId: string, id: string): Promise<DeliveryRow | undefined>;
  /** Rows of some events of an account. */
  deliveriesOf(accountId: string, eventIds: readonly string[], limit: number): Promise<ListedDelivery[]>;
  /** How many deliveries of an event have a row. @param most where counting ends */
  countOf(accountId: string, eventId: string, most: number): Promise<number>;
  /** View of one delivery in a list. */
  summary(accountId: string, id: string): Promise<DeliverySummary | undefined>;
  /** Payloads of events, by id, those that can be read and are no larger than a limit in bytes. */
  payloadsOf(
    events: readonly { accountId: string; eventId: string }[],
    maxBytes: number,
  ): Promise<Map<string, string>>;
  /** Deliveries that match, those with the highest positions first. @param accountId absent: of all accounts */
  deliveries(
    accountId: string | undefined,
    filter: DeliveriesOf,
    range: Range,
    limit: number,
  ): Promise<ListedDelivery[]>;
  /** Id of the first delivery of each event that matches: the one to the oldest endpoint. */
  firstOfEach(
    accountId: string,
    filter: DeliveryFilter,
    eventIds: readonly string[],
  ): Promise<ReadonlySet<string>>;
  event(accountId: string, id: string): Promise<EventRow | undefined>;
  /** Ids of the groups that may carry a delivery. */
  carriersOf(accountId: string, key: DeliveryKey): Promise<readonly string[]>;
  /**
   * Events that match, without payloads, the latest first. Filters on deliveries are not looked at.
   *
   * @param after only those before the event of this id in the list; absent: from the first
   */
  events(
    accountId: string,
    filter: EventFilter,
    limit: number,
    after: string | undefined,
  ): Promise<EventRow[]>;
}

/** Sorts before the digits of a time where the last comes first. */
const OPEN = '~';

/**
 * Where lists show a delivery, whose order is the reverse of this text's: open ones first, those of the latest events
 * before others; then closed ones, the latest first.
 */
export function positionOf({
  id,
  created_at,
  closed_at,
}: {
  id: string;
  created_at: string;
  closed_at: string | undefined;
}): string {
  return closed_at === undefined ? `${OPEN}${created_at} ${id}` : `${closed_at} ${id}`;
}

/** Positions from here on are of open deliveries. */
export const FIRST_OPEN_POSITION = OPEN;

/** The form of a position. */
export const POSITION = new RegExp(
  `^${OPEN}?\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z dlv_${ULID}_${ULID}$`,
);
