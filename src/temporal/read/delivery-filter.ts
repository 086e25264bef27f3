import type { AttemptFilter } from '../../domain/archive/attempt-filter.js';
import type { AttemptErrorCode } from '../../domain/attempt/attempt.js';
import { SHOWN_STATUSES, type ShownStatus } from '../../domain/delivery/delivery.js';
import {
  ACCOUNT_ATTRIBUTE,
  ENDPOINT_ATTRIBUTE,
  EVENT_ATTRIBUTE,
  KIND_ATTRIBUTE,
} from '../../domain/ledger/search-attributes.js';
import { DELIVERY_TYPE } from '../../domain/ledger/workflow-ids.js';
import {
  type DeliveryRow,
  deliveriesOf,
  isCurrent,
  isWithin,
  type Period,
  periodClauses,
} from './delivery-view.js';
import { hasKey } from './group/group-memo.js';
import type { Located, RowReader } from './row-reader.js';
import { type Clause, equals } from './visibility/query.js';
import { hasStatus } from './visibility/status-clauses.js';
import type { Execution } from './visibility/visibility.js';

/** Filters of a list of deliveries. A delivery must match every filter that is given. */
export interface DeliveryFilter extends Period {
  endpoint_id?: string | undefined;
  event_id?: string | undefined;
  event_kind?: string | undefined;
  /** Token of a business key of the event. */
  key_token?: string | undefined;
  /** It has one of these. */
  statuses?: readonly ShownStatus[] | undefined;
  /** Its latest attempt had no answer, for this reason. */
  error_code?: AttemptErrorCode | undefined;
  /** Its latest attempt was answered with this. */
  status_code?: number | undefined;
  /** It has an attempt like this, in whichever of its runs. */
  any_attempt?: AttemptFilter | undefined;
}

/** The clauses that find executions which may stand for such deliveries; `undefined` if there can be none. */
export function clausesOf(accountId: string, filter: DeliveryFilter): Clause[] | undefined {
  const statuses = possibleStatuses(filter);
  if (statuses.length === 0) return undefined;
  return [
    equals('WorkflowType', DELIVERY_TYPE),
    isCurrent,
    equals(ACCOUNT_ATTRIBUTE.name, accountId),
    ...(filter.endpoint_id ? [equals(ENDPOINT_ATTRIBUTE.name, filter.endpoint_id)] : []),
    ...(filter.event_id ? [equals(EVENT_ATTRIBUTE.name, filter.event_id)] : []),
    ...(filter.event_kind ? [equals(KIND_ATTRIBUTE.name, filter.event_kind)] : []),
    ...(filter.key_token ? [equals(ACCOUNT_ATTRIBUTE.name, filter.key_token)] : []),
    ...(statuses.length < SHOWN_STATUSES.length ? [hasStatus(statuses)] : []),
    ...periodClauses(filter),
  ];
}

/** The deliveries of an execution that match, as far as lists tell: a group holds others, too. Not compared: results of attempts. */
export function matchingRows(execution: Execution, accountId: string, filter: DeliveryFilter): DeliveryRow[] {
  const statuses = possibleStatuses(filter);
  const isKeyed = filter.key_token ? hasKey(execution, filter.key_token) : () => true;
  return deliveriesOf(execution, accountId).filter(
    ({ summary }) =>
      isWithin(summary.event_id, filter) &&
      (!filter.endpoint_id || summary.endpoint_id === filter.endpoint_id) &&
      (!filter.event_id || summary.event_id === filter.event_id) &&
      (!filter.event_kind || summary.event_kind === filter.event_kind) &&
      statuses.includes(summary.status) &&
      isKeyed(summary.event_id),
  );
}

/** Whether deliveries are narrowed down by what only their records tell. */
export function needsRecords(filter: DeliveryFilter): boolean {
  return asksForResult(filter) || filter.any_attempt !== undefined;
}

/** Whether deliveries are narrowed down by how their latest attempt ended. */
export function asksForResult({ error_code, status_code }: DeliveryFilter): boolean {
  return error_code !== undefined || status_code !== undefined;
}

/** Whether the latest attempt of a delivery ended as a filter says. Its cause may tell; otherwise its record is read. */
export async function hasResult(
  item: Located,
  { error_code, status_code }: DeliveryFilter,
  rows: RowReader,
): Promise<boolean> {
  const { cause } = item.row.state ?? {};
  const last = cause?.code === 'attempt' ? cause : (await rows.record(item))?.attempts.at(-1);
  return (
    last !== undefined &&
    (error_code === undefined || last.error_code === error_code) &&
    (status_code === undefined || last.status_code === status_code)
  );
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
