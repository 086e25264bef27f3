import {
  DELIVERY_STATUSES,
  type DeliveryStatus,
  isClosed,
  type ShownStatus,
} from '../../../domain/delivery/delivery.js';
import {
  GROUP_STATUS,
  groupStatusesWithout,
  STATUS_ATTRIBUTE,
} from '../../../domain/ledger/search-attributes.js';
import { anyOf, type Clause, equals, isNoneOf, isOneOf } from './query.js';

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

/** Groups whose status names one of these, among executions of deliveries. An only delivery has its own status there. */
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
