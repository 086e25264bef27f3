import {
  DELIVERY_STATUSES,
  type DeliveryStatus,
  isClosed,
  type ShownStatus,
} from '../../../domain/delivery/delivery.js';
import {
  ACCOUNT_ATTRIBUTE,
  ENDPOINT_ATTRIBUTE,
  EVENT_ATTRIBUTE,
  EVENT_HEAD_ATTRIBUTE,
  GROUP_STATUS,
  groupStatusesWithout,
  KIND_ATTRIBUTE,
  STATUS_ATTRIBUTE,
} from '../../../domain/ledger/search-attributes.js';
import { type Meanings, meaningsOf } from '../../../domain/list/delivery-filter.js';
import { anyOf, type Clause, equals, isAfter, isNoneOf, isNot, isOneOf, isTrue } from './query.js';
import type { Execution } from './visibility.js';

/** All accounts together: only for counts that name no account, for the operator's lists, and for the archive. */
export const EVERY_ACCOUNT = Symbol('every account');

/** One account, or all of them. */
export type Whose = string | typeof EVERY_ACCOUNT;

type Values = string | readonly string[];

/**
 * What executions are sought by besides their account; several values are alternatives, and what is absent does not
 * matter.
 */
export interface Sought {
  type?: Values | undefined;
  status?: Values | undefined;
  taskQueue?: string | undefined;
  event?: Values | undefined;
  endpoint?: Values | undefined;
  kind?: string | undefined;
  /** It stands for its event in a list of events. */
  isHead?: true | undefined;
  /** It has not carried on as another run: such a run does not stand for anything any more. */
  isCurrent?: true | undefined;
  /**
   * It is open, or closed at this time or later. Something may have closed just before: see
   * {@link isOpenOrClosedSince}.
   */
  since?: Date | undefined;
}

const named = (attribute: string) => (values: Values) =>
  typeof values === 'string' ? equals(attribute, values) : isOneOf(attribute, values);

/** The clauses by which executions are sought. */
export const SOUGHT_BY: Meanings<Sought & { account?: Values | undefined }, Clause> = {
  type: named('WorkflowType'),
  status: named('ExecutionStatus'),
  taskQueue: named('TaskQueue'),
  account: named(ACCOUNT_ATTRIBUTE.name),
  event: named(EVENT_ATTRIBUTE.name),
  endpoint: named(ENDPOINT_ATTRIBUTE.name),
  kind: named(KIND_ATTRIBUTE.name),
  isHead: () => isTrue(EVENT_HEAD_ATTRIBUTE.name),
  isCurrent: () => isNot('ExecutionStatus', 'ContinuedAsNew'),
  // SQL stores compare times as texts, which for a time with zeros at its end is not exact.
  since: (time) =>
    anyOf([equals('ExecutionStatus', 'Running')], [isAfter('CloseTime', new Date(time.getTime() - 2))]),
};

/**
 * The clauses that find executions by all of this.
 *
 * @param whose which account's, also by tokens of business keys: nobody gets those of all by leaving something out
 */
export function where(whose: Whose | readonly string[], sought: Sought): Clause[] {
  const account = whose === EVERY_ACCOUNT ? undefined : whose;
  return meaningsOf(SOUGHT_BY, { ...sought, account }, undefined);
}

/** Whether an execution is open, or closed at a time or later. */
export function isOpenOrClosedSince({ closeTime }: Execution, since: Date | undefined): boolean {
  return !since || !closeTime || closeTime >= since;
}

/** Finds deliveries of any of these statuses, and groups that may hold some: the inverse of how a status is read. */
export function hasStatus(statuses: readonly ShownStatus[]): Clause {
  const ofMembers = statuses.filter((status) => status !== 'terminated');
  const open = ofMembers.filter((status) => !isClosed(status));
  const closed = ofMembers.filter(isClosed);
  return anyOf(
    ...statuses.map(hasStatusItself),
    ...(open.length > 0 ? [[equals('ExecutionStatus', 'Running'), ...isGroupWith(open)]] : []),
    ...(closed.length > 0 ? [isGroupWith(closed)] : []),
  );
}

/**
 * Groups whose status names one of these, among executions of deliveries. An only delivery has its own status there.
 */
export function isGroupWith(statuses: readonly DeliveryStatus[]): Clause[] {
  return [isNoneOf(STATUS_ATTRIBUTE.name, [...DELIVERY_STATUSES, ...groupStatusesWithout(statuses)])];
}

/** Executions whose deliveries all have a status. */
function hasStatusItself(status: ShownStatus): Clause[] {
  switch (status) {
    case 'terminated':
      return [equals('ExecutionStatus', 'Terminated')];
    case 'delivered':
      return [equals('ExecutionStatus', 'Completed')];
    case 'cancelled':
      return [equals('ExecutionStatus', 'Canceled')];
    case 'exhausted':
    case 'expired':
      return [equals('ExecutionStatus', 'Failed'), equals(STATUS_ATTRIBUTE.name, status)];
    case 'delivering':
      return [equals('ExecutionStatus', 'Running'), isOneOf(STATUS_ATTRIBUTE.name, [status, GROUP_STATUS])];
    default:
      return [equals('ExecutionStatus', 'Running'), equals(STATUS_ATTRIBUTE.name, status)];
  }
}
