import type { Attempt } from '../../domain/attempt/attempt.js';
import { idTime } from '../../domain/basics/id-time.js';
import { SHOWN_STATUSES, type ShownStatus } from '../../domain/delivery/delivery.js';
import { ACCEPTED_ATTRIBUTE } from '../../domain/ledger/search-attributes.js';
import { DELIVERY_TYPE } from '../../domain/ledger/workflow-ids.js';
import {
  type DeliveryFilter,
  type EventFilter,
  type Meanings,
  meaningsOf,
  type ResultFilter,
  type RowFilter,
} from '../../domain/list/delivery-filter.js';
import { CLOCKS_DIFFER_MS, type DeliveryRow, type DeliverySummary, deliveriesOf } from './delivery-view.js';
import { hasKey } from './group/group-memo.js';
import type { Located, RowReader } from './row-reader.js';
import { hasStatus, isOpenOrClosedSince, SOUGHT_BY, type Whose, where } from './visibility/clauses.js';
import { type Clause, isAfter, isBefore } from './visibility/query.js';
import type { Execution } from './visibility/visibility.js';

/** What is asked of the ledger: not what closed before a time, which the archive has. */
export interface LedgerFilter extends DeliveryFilter {
  since?: Date | undefined;
}

type EventTest = (event: Pick<DeliverySummary, 'event_id' | 'event_kind'>) => boolean;
type DeliveryTest = (summary: DeliverySummary) => boolean;
type ResultTest = (latest: Pick<Attempt, 'error_code' | 'status_code'>) => boolean;

/** What finds executions that may stand for such events. They may stand for others, too, so each is tested. */
const EVENT_CLAUSES: Meanings<EventFilter, Clause> = {
  event_id: SOUGHT_BY.event,
  event_kind: SOUGHT_BY.kind,
  key_token: SOUGHT_BY.account,
  // An execution starts later than its event was accepted.
  created_after: (time) => isAfter('StartTime', new Date(time.getTime() - CLOCKS_DIFFER_MS)),
  created_before: (time) => isBefore(ACCEPTED_ATTRIBUTE.name, time),
};

/** What tests an event of an execution. */
const EVENT_TESTS: Meanings<EventFilter, EventTest, Execution> = {
  event_id: (id) => (event) => event.event_id === id,
  event_kind: (kind) => (event) => event.event_kind === kind,
  key_token: (token, execution) => {
    const isKeyed = hasKey(execution, token);
    return (event) => isKeyed(event.event_id);
  },
  created_after: (time) => (event) => idTime(event.event_id) > time.getTime(),
  created_before: (time) => (event) => idTime(event.event_id) < time.getTime(),
};

/** The same of deliveries. */
const DELIVERY_CLAUSES: Meanings<RowFilter, Clause | undefined> = {
  ...EVENT_CLAUSES,
  endpoint_id: SOUGHT_BY.endpoint,
  statuses: (some) => (some.length < SHOWN_STATUSES.length ? hasStatus(some) : undefined),
};

const DELIVERY_TESTS: Meanings<RowFilter, DeliveryTest, Execution> = {
  ...EVENT_TESTS,
  endpoint_id: (id) => (delivery) => delivery.endpoint_id === id,
  statuses: (some) => (delivery) => some.includes(delivery.status),
};

/** What tests the latest attempt of a delivery: no search attribute has it, nor a row. */
const RESULT_TESTS: Meanings<ResultFilter, ResultTest> = {
  error_code: (code) => (latest) => latest.error_code === code,
  status_code: (code) => (latest) => latest.status_code === code,
};

/** The clauses that find executions which may stand for such events of an account. */
export function eventClauses(filter: EventFilter): Clause[] {
  return meaningsOf(EVENT_CLAUSES, filter, undefined);
}

/** Whether an event of an execution matches. */
export function eventTest(filter: EventFilter, execution: Execution): EventTest {
  const tests = meaningsOf(EVENT_TESTS, filter, execution);
  return (event) => tests.every((test) => test(event));
}

/** The clauses that find executions which may stand for such deliveries; `undefined` if there can be none. */
export function clausesOf(whose: Whose, { since, ...filter }: LedgerFilter): Clause[] | undefined {
  const statuses = possibleStatuses(filter);
  if (statuses.length === 0) return undefined;
  const ofRows: RowFilter = { ...filter, statuses };
  const clauses = meaningsOf(DELIVERY_CLAUSES, ofRows, undefined);
  return [
    ...where(whose, { type: DELIVERY_TYPE, isCurrent: true, since }),
    ...clauses.filter((clause) => clause !== undefined),
  ];
}

/**
 * The deliveries in an execution that match, as far as lists tell: a group holds others, too. Not compared: results of
 * attempts.
 */
export function matchingRows(
  execution: Execution,
  whose: Whose,
  { since, ...filter }: LedgerFilter,
): DeliveryRow[] {
  if (!isOpenOrClosedSince(execution, since)) return [];
  const ofRows: RowFilter = { ...filter, statuses: possibleStatuses(filter) };
  const tests = meaningsOf(DELIVERY_TESTS, ofRows, execution);
  return deliveriesOf(execution, whose).filter(({ summary }) => tests.every((test) => test(summary)));
}

/** Whether anything is said of deliveries besides of their events: a list of events looks at its deliveries then. */
export function asksForDeliveries(filter: DeliveryFilter): boolean {
  const names = Object.keys(DELIVERY_TESTS) as (keyof RowFilter)[];
  const isAsked = names.some((name) => !(name in EVENT_TESTS) && filter[name] !== undefined);
  return isAsked || needsRecords(filter);
}

/** Whether deliveries are narrowed down by what only their records tell. */
export function needsRecords(filter: DeliveryFilter): boolean {
  return asksForResult(filter) || filter.any_attempt !== undefined;
}

/** Whether deliveries are narrowed down by how their latest attempt ended. */
export function asksForResult(filter: ResultFilter): boolean {
  return resultTests(filter).length > 0;
}

/**
 * Whether the latest attempt of a delivery ended as a filter says. Its cause may tell; otherwise its record is read.
 */
export async function hasResult(
  item: Located,
  filter: ResultFilter,
  rows: Pick<RowReader, 'record'>,
): Promise<boolean> {
  const { cause } = item.row.state ?? {};
  const last = cause?.code === 'attempt' ? cause : (await rows.record(item))?.attempts.at(-1);
  return last !== undefined && resultTests(filter).every((test) => test(last));
}

function resultTests(filter: ResultFilter): ResultTest[] {
  return meaningsOf(RESULT_TESTS, filter, undefined);
}

/** The statuses that a delivery can have: an attempt that was answered with success was the last one. */
function possibleStatuses(filter: DeliveryFilter): ShownStatus[] {
  const { statuses = SHOWN_STATUSES, error_code, status_code, any_attempt } = filter;
  // An attempt has one of the two.
  if (error_code !== undefined && status_code !== undefined) return [];
  if (any_attempt?.error_code !== undefined && any_attempt.status_code !== undefined) return [];
  const succeeded = status_code !== undefined && status_code >= 200 && status_code <= 299;
  return statuses.filter((status) => !asksForResult(filter) || (status === 'delivered') === succeeded);
}
