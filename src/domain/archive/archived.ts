import type { AttemptErrorCode } from '../attempt/attempt.js';
import type { DeliveryKey } from '../basics/delivery-id.js';
import type { ShownStatus } from '../delivery/delivery.js';
import type { AttemptSums } from '../list/attempt-filter.js';
import type { DeliveryFilter, EventFilter } from '../list/delivery-filter.js';

/**
 * A closed delivery as it is archived. What lists are filtered and sorted by stands by itself; the rest is JSON text,
 * as readers of the ledger made it, so that a delivery reads from the archive as it read from the ledger.
 */
export interface ArchivedDelivery extends AttemptSums {
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
  /** Where lists show it: see {@link positionAt}. */
  position: string;
  run_id: string;
  /** Sorts the runs of one delivery: a later run replaces an earlier one. */
  run_order: string;
  /** Of the record: 1, or one more for each later run. */
  revision: number;
  /** The canonical text of its `DeliveryRecord`. */
  record: string;
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

/** A delivery as lists of the archive show it. */
export type ListedDelivery = Omit<ArchivedDelivery, 'detail' | 'timeline'>;

/** An event as it is stored. */
export interface ArchivedEvent {
  id: string;
  account_id: string;
  event_kind: string;
  accepted_at: Date;
  keys: readonly string[];
  /** As received; `undefined` once it is no longer kept, or if it was erased. */
  payload: string | undefined;
  /**
   * The payload as it is kept, with its commitment: what the event is sent with again. Absent once it is no longer
   * kept.
   */
  kept?: { sealed: string; commitment: string } | undefined;
  payload_bytes: number;
  /** Its number in the account's sequence; absent if it has none. */
  sequence?: number | undefined;
  /** It is a test of one endpoint. */
  is_test?: true | undefined;
  /** The endpoints that it goes to. */
  endpoint_ids: readonly string[];
  /** Ids of the groups that carry some of its deliveries. */
  carriers: readonly string[];
}

/** Deliveries of some events that match a filter. */
export interface ArchivedOf extends DeliveryFilter {
  event_ids?: readonly string[] | undefined;
}

/** A part of the archive's order: positions between these two, both excluded; open where absent. */
export interface Range {
  above?: string | undefined;
  below?: string | undefined;
}

/** What readers need of the archive. */
export interface ArchiveReads {
  /**
   * The archive has everything that closed before this, and for as long as Temporal does: lists need not look for it
   * there. Absent if nothing is sure.
   */
  completeUntil(): Promise<Date | undefined>;
  delivery(accountId: string, id: string): Promise<ArchivedDelivery | undefined>;
  /** Some of an account's deliveries, whole, by id. */
  whole(accountId: string, ids: readonly string[]): Promise<Map<string, ArchivedDelivery>>;
  /** Archived deliveries of some events of an account. */
  deliveriesOf(accountId: string, eventIds: readonly string[], limit: number): Promise<ListedDelivery[]>;
  /** Deliveries that match, those with the highest positions first. */
  deliveries(accountId: string, filter: ArchivedOf, range: Range, limit: number): Promise<ListedDelivery[]>;
  event(accountId: string, id: string): Promise<ArchivedEvent | undefined>;
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
  ): Promise<ArchivedEvent[]>;
}

/** A group has up to twice as many members. */
const FIRST_MEMBERS = 100;

/**
 * Members of a group are numbered down, so that the first one has the highest position, as in the ledger's lists: from
 * 99 to 00, and then, because a minus sorts before digits, from -99.
 */
function positionInGroup(index: number): string {
  const down = String(FIRST_MEMBERS - 1 - (index % FIRST_MEMBERS)).padStart(2, '0');
  return index < FIRST_MEMBERS ? down : `-${down}`;
}

/**
 * Where lists show what closed at a time. Temporal lists closed executions by the time they closed, the latest first,
 * and a group's deliveries in the group's order. So does the archive, and both can be read side by side.
 *
 * @param closedAt of the execution, not of the delivery: a group closes with its last delivery
 * @param index in the execution; 0 if it stands for one thing
 */
export function positionAt(closedAt: Date, runId: string, index: number): string {
  return positionBehind(closedAt, runId) + positionInGroup(index);
}

/** Just above the position of a member: below those before it. */
export function positionBefore(closedAt: Date, runId: string, index: number): string {
  return `${positionAt(closedAt, runId, index)}~`;
}

/** Below the positions of everything in an execution. */
export function positionBehind(closedAt: Date, runId: string): string {
  return `${closedAt.toISOString()} ${runId} `;
}

/** What a position, or a limit between positions, looks like. */
export const POSITION = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z [\da-f-]{36} (-?\d\d~?)?$/;

/** The time of a position. */
export function closedAt(position: string): Date {
  return new Date(position.slice(0, 'YYYY-MM-DDTHH:MM:SS.sssZ'.length));
}

/**
 * Sorts the runs of a delivery. A reset run has the start of the run that was reset in its memo, and a later one of its
 * own.
 */
export function runOrder(startedAt: string, executionStartedAt: Date): string {
  return `${startedAt} ${executionStartedAt.toISOString()}`;
}
