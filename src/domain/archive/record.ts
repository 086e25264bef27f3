import type { Change } from '../change/change.js';
import type { Attempt, Intervention, ShownStatus } from '../delivery/delivery.js';

import { receiptOf } from './receipt.js';

export { canonicalJson } from './canonical-json.js';

/**
 * The canonical record of a closed delivery: what the archive keeps longest and what a certificate proves. It holds ids, times and results. It
 * holds no payload, no text that a subscriber sent, and no URL; {@link payload_commitment} stands for the payload.
 */
export interface DeliveryRecord {
  type: 'delivery';
  /** Of this shape. */
  format: 1;
  /** 1 for the first record of a delivery, and one more each time that it closed again after it had been archived. */
  revision: number;
  account_id: string;
  delivery_id: string;
  event_id: string;
  event_kind: string;
  endpoint_id: string;
  /** The execution that this is the result of. */
  workflow_id: string;
  run_id: string;
  status: ShownStatus;
  /** ISO 8601, UTC, as all times here. */
  accepted_at: string;
  started_at: string;
  closed_at?: string;
  attempts: RecordedAttempt[];
  /** What operators did to it. */
  interventions?: RecordedIntervention[];
  /** Runs before it was sent again, newest first. */
  earlier_runs?: RecordedRun[];
  /** Size of the payload. */
  payload_bytes?: number;
  /** HMAC-SHA256 of the payload's bytes under the event's salt, hexadecimal: it says nothing about the payload to who lacks the salt. */
  payload_commitment?: string;
}

/** An attempt in a {@link DeliveryRecord}. */
export type RecordedAttempt = Pick<
  Attempt,
  'number' | 'at' | 'duration_ms' | 'trigger' | 'endpoint_version' | 'status_code' | 'error_code'
> & {
  /** Stands for the subscriber's receipt, if it sent one: see {@link commitToReceipt}. */
  receipt_commitment?: string;
};

/** An intervention in a {@link DeliveryRecord}. */
export type RecordedIntervention = Pick<Intervention, 'action' | 'at' | 'by' | 'replay'>;

/** An earlier run in a {@link DeliveryRecord}. */
export interface RecordedRun {
  run_id: string;
  status: ShownStatus;
  started_at: string;
  closed_at?: string;
  attempts: number;
}

/** The canonical record of a change. States before and after, reasons and addresses can be personal data, so they are not in it. */
export interface ChangeRecord {
  type: 'change';
  format: 1;
  account_id: string;
  change_id: string;
  /** Kind and id, such as `endpoint:ep_…`. */
  resource: string;
  action: Change['action'];
  at: string;
  actor_type: Change['actor']['type'];
  actor_id: string;
  version?: number;
  changed: string[];
  replay?: string;
}

/** What a record is made of: a closed delivery as every view shows it. */
export interface ClosedDelivery {
  id: string;
  event_id: string;
  endpoint_id: string;
  event_kind: string;
  status: ShownStatus;
  created_at: string;
  started_at: string;
  closed_at?: string | undefined;
  workflow_id: string;
  run_id: string;
  attempts: readonly AttemptToRecord[];
  interventions?: readonly Intervention[] | undefined;
  payload_bytes?: number | undefined;
  earlier_runs?:
    | readonly {
        run_id: string;
        status: ShownStatus;
        started_at: string;
        closed_at?: string | undefined;
        attempts: readonly unknown[];
      }[]
    | undefined;
}

/** An attempt that a record is made of. */
type AttemptToRecord = RecordedAttempt & Pick<Attempt, 'response_headers'>;

/** @param attempt its number */
type CommitReceipt = (attempt: number, receipt: string) => string | undefined;

/** Whether a delivery has receipts, for which its record needs the salt of its event. */
export function hasReceipts({ attempts }: Pick<ClosedDelivery, 'attempts'>): boolean {
  return attempts.some((attempt) => receiptOf(attempt) !== undefined);
}

/**
 * The record of a closed delivery.
 *
 * @param commitment to its payload; absent if the payload could not be read
 * @param commitReceipt the commitment to the receipt of an attempt; absent if the key of the event was erased
 */
export function deliveryRecord(
  accountId: string,
  delivery: ClosedDelivery,
  revision: number,
  commitment: string | undefined,
  commitReceipt?: CommitReceipt,
): DeliveryRecord {
  const { interventions = [], earlier_runs = [], closed_at, payload_bytes } = delivery;
  return {
    type: 'delivery',
    format: 1,
    revision,
    account_id: accountId,
    delivery_id: delivery.id,
    event_id: delivery.event_id,
    event_kind: delivery.event_kind,
    endpoint_id: delivery.endpoint_id,
    workflow_id: delivery.workflow_id,
    run_id: delivery.run_id,
    status: delivery.status,
    accepted_at: delivery.created_at,
    started_at: delivery.started_at,
    ...(closed_at !== undefined && { closed_at }),
    attempts: delivery.attempts.map((attempt) => recordAttempt(attempt, commitReceipt)),
    ...(interventions.length > 0 && { interventions: interventions.map(recordIntervention) }),
    ...(earlier_runs.length > 0 && {
      earlier_runs: earlier_runs.map(({ run_id, status, started_at, closed_at, attempts }) => ({
        run_id,
        status,
        started_at,
        ...(closed_at !== undefined && { closed_at }),
        attempts: attempts.length,
      })),
    }),
    ...(payload_bytes !== undefined && { payload_bytes }),
    ...(commitment !== undefined && { payload_commitment: commitment }),
  };
}

function recordAttempt(attempt: AttemptToRecord, commitReceipt: CommitReceipt | undefined): RecordedAttempt {
  const { number, at, duration_ms, trigger, endpoint_version, status_code, error_code } = attempt;
  const receipt = receiptOf(attempt);
  const receipt_commitment = receipt === undefined ? undefined : commitReceipt?.(number, receipt);
  return {
    number,
    at,
    duration_ms,
    trigger,
    ...(endpoint_version !== undefined && { endpoint_version }),
    ...(status_code !== undefined && { status_code }),
    ...(error_code !== undefined && { error_code }),
    ...(receipt_commitment !== undefined && { receipt_commitment }),
  };
}

function recordIntervention({ action, at, by, replay }: Intervention): RecordedIntervention {
  return { action, at, by, ...(replay !== undefined && { replay }) };
}

/** The record of a change. */
export function changeRecord(accountId: string, change: Change): ChangeRecord {
  const { id, resource, action, at, actor, version, changed, replay } = change;
  return {
    type: 'change',
    format: 1,
    account_id: accountId,
    change_id: id,
    resource,
    action,
    at,
    actor_type: actor.type,
    actor_id: actor.id,
    ...(version !== undefined && { version }),
    changed,
    ...(replay !== undefined && { replay }),
  };
}
