import { DELIVERY_STATUSES, type DeliveryRecord, type DeliveryStatus } from '../domain/delivery.js';
import { deliveryId } from '../domain/ids.js';
import { KIND_ATTRIBUTE, STATUS_ATTRIBUTE } from '../domain/search-attributes.js';
import { type Execution, equals } from './visibility.js';
import { parseDeliveryWorkflowId } from './workflow-ids.js';

/** A delivery as the HTTP interface shows it in a list. */
export interface DeliverySummary {
  id: string;
  event_id: string;
  endpoint_id: string;
  event_kind: string;
  status: DeliveryStatus;
  /** When the delivery was started. */
  created_at: string;
  closed_at: string | undefined;
  next_attempt_at: string | undefined;
  reason: string | undefined;
  /** Where the execution is found in Temporal. */
  workflow_id: string;
  run_id: string;
}

/** A delivery with everything that happened to it. */
export type Delivery = DeliverySummary & Pick<DeliveryRecord, 'attempts' | 'interventions'>;

/** Reads a delivery's summary from its execution. `undefined` where the execution is no delivery. */
export function summarize(execution: Execution): DeliverySummary | undefined {
  const key = parseDeliveryWorkflowId(execution.workflowId);
  if (!key) return undefined;
  const status = statusOf(execution);
  const memo = recordInMemo(execution);
  const open = execution.status.name === 'RUNNING';
  return {
    id: deliveryId(key),
    event_id: key.event_id,
    endpoint_id: key.endpoint_id,
    event_kind: execution.typedSearchAttributes.get(KIND_ATTRIBUTE) ?? '',
    status,
    created_at: execution.startTime.toISOString(),
    closed_at: execution.closeTime?.toISOString(),
    next_attempt_at: open ? memo?.next_attempt_at : undefined,
    reason: memo?.reason,
    workflow_id: execution.workflowId,
    run_id: execution.runId,
  };
}

/** The record as the memo has it: absent while nothing has gone wrong. */
export function recordInMemo(execution: Execution): DeliveryRecord | undefined {
  return execution.memo?.['delivery'] as DeliveryRecord | undefined;
}

/** A closed execution's own status tells the outcome; the search attribute tells the rest. */
function statusOf(execution: Execution): DeliveryStatus {
  const attribute = execution.typedSearchAttributes.get(STATUS_ATTRIBUTE);
  switch (execution.status.name) {
    case 'RUNNING':
      return DELIVERY_STATUSES.find((status) => status === attribute) ?? 'delivering';
    case 'COMPLETED':
      return 'delivered';
    case 'FAILED':
    case 'TIMED_OUT':
      return attribute === 'expired' ? 'expired' : 'exhausted';
    default:
      return 'cancelled';
  }
}

/** The clauses that find deliveries of a status: the inverse of how a status is read. */
export function statusClauses(status: DeliveryStatus): string[] {
  switch (status) {
    case 'delivered':
      return [equals('ExecutionStatus', 'Completed')];
    case 'cancelled':
      return ["ExecutionStatus IN ('Canceled', 'Terminated')"];
    case 'exhausted':
    case 'expired':
      return [equals('ExecutionStatus', 'Failed'), equals(STATUS_ATTRIBUTE.name, status)];
    default:
      return [equals('ExecutionStatus', 'Running'), equals(STATUS_ATTRIBUTE.name, status)];
  }
}
