import { type Cause, reasonOf } from '../../domain/attempt/cause.js';
import { type DeliveryKey, deliveryId } from '../../domain/basics/delivery-id.js';
import { createdAt } from '../../domain/basics/id-time.js';
import { type DeliveryRecord, isClosed, type ShownStatus } from '../../domain/delivery/delivery.js';
import type { MemberState } from '../../domain/delivery/group-summary.js';
import { KIND_ATTRIBUTE } from '../../domain/ledger/search-attributes.js';
import { isGroup, parseFanOutWorkflowId } from '../../domain/ledger/workflow-ids.js';
import type { AskedAttempt, AttemptView, LastAttempt } from './attempt-view.js';
import { type GroupMemo, membersOf, sequencesIn } from './group/group-memo.js';
import { EVERY_ACCOUNT, type Whose } from './visibility/clauses.js';
import type { Execution } from './visibility/visibility.js';

/** A delivery as the HTTP interface shows it in a list. */
export interface DeliverySummary {
  id: string;
  event_id: string;
  endpoint_id: string;
  event_kind: string;
  /** The number of its event in the account's sequence; absent if it has none. */
  sequence?: number;
  status: ShownStatus;
  /** When the delivery's event was accepted: the same in every view of the event, the delivery and its runs. */
  created_at: string;
  /** When this run was started: later than `created_at` under load, and if the delivery was sent again. */
  started_at: string;
  closed_at: string | undefined;
  next_attempt_at: string | undefined;
  /** Why it is as it is, and what it waits for. */
  reason: string | undefined;
  /** The execution in Temporal. */
  workflow_id: string;
  run_id: string;
  /** In a list that is filtered by attempts: those that match. */
  matching_attempts?: AskedAttempt[];
  /** In a list that is asked for it: the latest attempt that is known to have ended. */
  last_attempt?: LastAttempt;
}

/** What happened to a delivery in one of its runs. */
type Happened = Pick<DeliveryRecord, 'interventions'> & { attempts: AttemptView[] };

/** A run of a delivery before it was resent. */
export type EarlierRun = Pick<
  DeliverySummary,
  'run_id' | 'status' | 'created_at' | 'started_at' | 'closed_at' | 'reason'
> &
  Happened;

/** What is shown of a run before a delivery was resent. */
export function earlierRun(
  { run_id, status, created_at, started_at, closed_at, reason }: DeliverySummary,
  { attempts, interventions }: Happened,
): EarlierRun {
  return {
    run_id,
    status,
    created_at,
    started_at,
    closed_at,
    reason,
    attempts,
    ...(interventions && { interventions }),
  };
}

/** A delivery with everything that happened to it. */
export type Delivery = DeliverySummary &
  Happened & {
    /** SHA-256 of the payload's bytes, hexadecimal, and how many there are; absent if the payload cannot be read. */
    payload_sha256: string | undefined;
    payload_bytes: number | undefined;
    /** Present if the payload was erased: `true`. */
    payload_erased: true | undefined;
    /** Facts behind the reason. They are not part of the HTTP interface. */
    cause: Cause | undefined;
    asked_to_wait: true | undefined;
    /** The runs before the delivery was resent, newest first; absent if it never was. */
    earlier_runs: EarlierRun[] | undefined;
  };

/** A delivery, or its record, as the HTTP interface shows it: without the facts behind its texts. */
export function withoutFacts<T extends Partial<Pick<Delivery, 'cause' | 'asked_to_wait'>>>({
  cause: _,
  asked_to_wait: __,
  ...shown
}: T): Omit<T, 'cause' | 'asked_to_wait'> {
  return shown;
}

/** A delivery in the execution that stands for it. */
export interface DeliveryRow {
  account_id: string;
  summary: DeliverySummary;
  /** Its place among the deliveries of the execution. */
  index: number;
  /** What the memo says of it besides. */
  state: MemberState | undefined;
}

/**
 * The deliveries that an execution stands for: one, several, or none. A group can hold deliveries of several accounts,
 * so every reader asks for one account's.
 */
export function deliveriesOf(execution: Execution, whose: Whose): DeliveryRow[] {
  const { states = [] } = (execution.memo ?? {}) as Partial<GroupMemo>;
  const sequences = sequencesIn(execution);
  return membersOf(execution).flatMap((key, index) => {
    if (!key || (whose !== EVERY_ACCOUNT && whose !== key.account_id)) return [];
    const state = states.find(({ members }) => members.includes(index));
    const summary = summarize(execution, key, state, sequences.get(key.event_id));
    return [{ account_id: key.account_id, summary, index, state }];
  });
}

/** The ids of the events of one account that an execution stands for in a list of events. */
export function headsOf(execution: Execution, accountId: string): string[] {
  const { heads = [] } = (execution.memo ?? {}) as Partial<GroupMemo>;
  const members = membersOf(execution);
  const keys = isGroup(execution.workflowId)
    ? heads.map((index) => members[index])
    : [members[0] ?? parseFanOutWorkflowId(execution.workflowId)];
  return keys.flatMap((key) => (key?.account_id === accountId ? [key.event_id] : []));
}

/** When what an execution stands for was started. Others than its first run say so. ISO 8601, UTC. */
export function startedAt(execution: Execution): string {
  return (execution.memo?.['created_at'] as string | undefined) ?? execution.startTime.toISOString();
}

/** Machines' clocks differ, and a start may be recorded as a moment before its event was accepted. Milliseconds. */
export const CLOCKS_DIFFER_MS = 60_000;

function summarize(
  execution: Execution,
  key: DeliveryKey,
  state: MemberState | undefined,
  sequence: number | undefined,
): DeliverySummary {
  const status = statusOf(execution, state);
  return {
    id: deliveryId(key),
    event_id: key.event_id,
    endpoint_id: key.endpoint_id,
    event_kind: execution.typedSearchAttributes.get(KIND_ATTRIBUTE) ?? '',
    ...(sequence !== undefined && { sequence }),
    status,
    created_at: createdAt(key.event_id),
    started_at: startedAt(execution),
    closed_at: execution.closeTime?.toISOString(),
    next_attempt_at: isClosed(status) ? undefined : state?.next_attempt_at,
    reason: status === state?.status ? reasonOf(state) : undefined,
    workflow_id: execution.workflowId,
    run_id: execution.runId,
  };
}

/**
 * A closed execution's own status tells the outcome of its only delivery; of a group, what the memo does not say of a
 * member.
 */
function statusOf({ workflowId, status }: Execution, state: MemberState | undefined): ShownStatus {
  const { name } = status;
  if (name === 'RUNNING' || name === 'CONTINUED_AS_NEW') return state?.status ?? 'delivering';
  if (isGroup(workflowId)) {
    if (name === 'COMPLETED') return state?.status ?? 'delivered';
    return state && isClosed(state.status) ? state.status : 'terminated';
  }
  if (name === 'COMPLETED') return 'delivered';
  if (name === 'FAILED' || name === 'TIMED_OUT') return state?.status === 'expired' ? 'expired' : 'exhausted';
  return name === 'TERMINATED' ? 'terminated' : 'cancelled';
}
