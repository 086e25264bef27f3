import { type DeliveryKey, deliveryId } from '../../domain/basics/ids.js';
import {
  DELIVERY_STATUSES,
  type DeliveryRecord,
  type DeliveryStatus,
} from '../../domain/delivery/delivery.js';
import { GROUP_STATUS, KIND_ATTRIBUTE, STATUS_ATTRIBUTE } from '../../domain/ledger/search-attributes.js';
import { parseDeliveryWorkflowId } from '../../domain/ledger/workflow-ids.js';
import { type GroupMemo, membersOf } from './group-memo.js';
import { type Execution, equals } from './visibility.js';

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

/** A run of a delivery before it was sent again. */
export type EarlierRun = Pick<DeliverySummary, 'run_id' | 'status' | 'created_at' | 'closed_at' | 'reason'> &
  Pick<DeliveryRecord, 'attempts' | 'interventions'>;

/** A delivery with everything that happened to it. */
export type Delivery = DeliverySummary &
  Pick<DeliveryRecord, 'attempts' | 'interventions'> & {
    /** What the delivery was before it was sent again, newest first; absent where it never was. */
    earlier_runs: EarlierRun[] | undefined;
  };

/** A delivery in the execution that stands for it. */
export interface DeliveryRow {
  account_id: string;
  summary: DeliverySummary;
  /** Its place in a group; absent where the execution is its own. */
  place?: number;
}

/** The deliveries that an execution stands for: one, those of a group that do not go on elsewhere, or none where it is neither. */
export function deliveriesOf(execution: Execution): DeliveryRow[] {
  const group = execution.memo as Partial<GroupMemo> | undefined;
  if (execution.type !== 'deliverGroup') {
    const key = parseDeliveryWorkflowId(execution.workflowId);
    return key ? [{ account_id: key.account_id, summary: summarizeSingle(execution, key) }] : [];
  }
  return membersOf(execution).flatMap((key, place) => {
    if (!key || group?.handed_over?.includes(place)) return [];
    return [
      { account_id: key.account_id, summary: summarize(execution, key, groupStatus(execution)), place },
    ];
  });
}

/** The events that a group stands for in a list of events, wherever their deliveries go on. */
export function headsOf(execution: Execution): { account_id: string; event_id: string }[] {
  const { heads = [] } = (execution.memo ?? {}) as Partial<GroupMemo>;
  const members = membersOf(execution);
  return heads.flatMap((index) => members[index] ?? []);
}

/** The record as the memo of a single delivery has it: absent while nothing has gone wrong. */
export function recordInMemo(execution: Execution): DeliveryRecord | undefined {
  return execution.memo?.['delivery'] as DeliveryRecord | undefined;
}

/** The clauses that find deliveries of a status, and the groups they may be in: the inverse of how a status is read. */
export function statusClauses(status: DeliveryStatus): string[] {
  switch (status) {
    case 'delivered':
      return [equals('ExecutionStatus', 'Completed')];
    case 'cancelled':
      return ["ExecutionStatus IN ('Canceled', 'Terminated')"];
    case 'exhausted':
    case 'expired':
      return [equals('ExecutionStatus', 'Failed'), equals(STATUS_ATTRIBUTE.name, status)];
    case 'delivering':
      return [
        equals('ExecutionStatus', 'Running'),
        `${STATUS_ATTRIBUTE.name} IN ('delivering', '${GROUP_STATUS}')`,
      ];
    default:
      return [equals('ExecutionStatus', 'Running'), equals(STATUS_ATTRIBUTE.name, status)];
  }
}

function summarizeSingle(execution: Execution, key: DeliveryKey): DeliverySummary {
  const memo = recordInMemo(execution);
  return {
    ...summarize(execution, key, singleStatus(execution)),
    next_attempt_at: execution.status.name === 'RUNNING' ? memo?.next_attempt_at : undefined,
    reason: memo?.reason,
  };
}

function summarize(execution: Execution, key: DeliveryKey, status: DeliveryStatus): DeliverySummary {
  return {
    id: deliveryId(key),
    event_id: key.event_id,
    endpoint_id: key.endpoint_id,
    event_kind: execution.typedSearchAttributes.get(KIND_ATTRIBUTE) ?? '',
    status,
    created_at: execution.startTime.toISOString(),
    closed_at: execution.closeTime?.toISOString(),
    next_attempt_at: undefined,
    reason: undefined,
    workflow_id: execution.workflowId,
    run_id: execution.runId,
  };
}

/** A closed execution's own status tells the outcome; the search attribute tells the rest. */
function singleStatus(execution: Execution): DeliveryStatus {
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

/** What a group has not handed over was delivered, once it has completed. */
function groupStatus(execution: Execution): DeliveryStatus {
  if (execution.status.name === 'RUNNING') return 'delivering';
  return execution.status.name === 'COMPLETED' ? 'delivered' : 'cancelled';
}
