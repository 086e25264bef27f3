import type { Attempt } from '../attempt/attempt.js';
import type { Change } from '../change/change.js';
import type { Intervention, ShownStatus } from '../delivery/delivery.js';
import type { VoidNumbers } from '../sequence/sequence.js';

import { changeDetails, commitToDetails } from './details.js';

export { canonicalJson } from './canonical-json.js';

/** Version of the form of records. Others are not read. */
export const RECORD_FORMAT = 2;

/**
 * The canonical record of a closed delivery: what is kept longest and what a certificate proves. It holds
 * ids, times and results. It holds no payload, no text that a subscriber sent, and no URL: commitments stand for them.
 */
export interface CanonicalDelivery {
  type: 'delivery';
  format: typeof RECORD_FORMAT;
  /** 1 for the first record of a delivery, and one more each time that it closed again after it was sent again. */
  revision: number;
  account_id: string;
  delivery_id: string;
  event_id: string;
  event_kind: string;
  /** The number of the event in the account's sequence; absent if it has none. */
  sequence?: number;
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
  /** Actions of operators on it. */
  interventions?: RecordedIntervention[];
  /** Runs before it was sent again, newest first. */
  earlier_runs?: RecordedRun[];
  /** Size of the payload. */
  payload_bytes?: number;
  /**
   * HMAC-SHA256 of the payload's bytes under the event's salt, hexadecimal: it says nothing about the payload to who
   * lacks the salt.
   */
  payload_commitment?: string;
  /**
   * The same of the canonical JSON of its `DeliveryDetails`, under a salt of this record. Absent, as the next, if the
   * key was erased before.
   */
  details_commitment?: string;
  /**
   * The same of the record without this field and of all that is shown with it, under a salt that nobody is
   * shown.
   */
  view_commitment?: string;
}

/** An attempt in a {@link CanonicalDelivery}. */
export type RecordedAttempt = Pick<
  Attempt,
  | 'number'
  | 'at'
  | 'duration_ms'
  | 'trigger'
  | 'endpoint_version'
  | 'lost_tries'
  | 'status_code'
  | 'error_code'
>;

/** An intervention in a {@link CanonicalDelivery}. */
export type RecordedIntervention = Pick<Intervention, 'action' | 'at' | 'by' | 'replay'>;

/** An earlier run in a {@link CanonicalDelivery}. */
export interface RecordedRun {
  run_id: string;
  status: ShownStatus;
  started_at: string;
  closed_at?: string;
  attempts: number;
}

/**
 * The canonical record of a change. States before and after, reasons and addresses can be personal data, so a
 * commitment stands for them.
 */
export interface ChangeRecord
  extends Pick<Change, 'resource' | 'action' | 'outcome' | 'at' | 'version' | 'changed' | 'replay'> {
  type: 'change';
  format: typeof RECORD_FORMAT;
  account_id: string;
  change_id: string;
  actor_type: Change['actor']['type'];
  actor_id: string;
  /**
   * HMAC-SHA256 of the canonical JSON of its `ChangeDetails` under the salt that is kept with the change, hexadecimal.
   */
  details_commitment?: string;
}

/** The canonical record of numbers of an account's sequence that no event has. */
export interface VoidRecord extends VoidNumbers {
  type: 'void';
  format: typeof RECORD_FORMAT;
}

/**
 * The record of void numbers. As of all records, its text is its canonical JSON, which has nothing of what is
 * `undefined`.
 */
export function voidRecord({ account_id, first, last, at }: VoidNumbers): VoidRecord {
  return { type: 'void', format: RECORD_FORMAT, account_id, first, last, at };
}

/** Source of a record: a closed delivery as every view shows it. */
export interface ClosedDelivery
  extends Pick<
    CanonicalDelivery,
    | ('event_id' | 'endpoint_id' | 'event_kind' | 'sequence' | 'status' | 'started_at' | 'closed_at')
    | ('workflow_id' | 'run_id' | 'payload_bytes')
  > {
  id: string;
  created_at: string;
  reason?: string | undefined;
  attempts: readonly Attempt[];
  interventions?: readonly Intervention[] | undefined;
  earlier_runs?: readonly RunToRecord[] | undefined;
}

type RunToRecord = Omit<RecordedRun, 'attempts'> & { attempts: readonly unknown[] };

/** Commitments to what a record does not say. */
interface Commitments {
  payload: string | undefined;
  details: string | undefined;
}

/**
 * The record of a closed delivery, without the commitment to what is shown with it.
 *
 * @param commitments absent of what could not be read
 */
export function deliveryRecord(
  accountId: string,
  delivery: ClosedDelivery,
  revision: number,
  { payload, details }: Commitments,
): CanonicalDelivery {
  const { interventions = [], earlier_runs = [] } = delivery;
  return {
    type: 'delivery',
    format: RECORD_FORMAT,
    revision,
    account_id: accountId,
    delivery_id: delivery.id,
    event_id: delivery.event_id,
    event_kind: delivery.event_kind,
    sequence: delivery.sequence,
    endpoint_id: delivery.endpoint_id,
    workflow_id: delivery.workflow_id,
    run_id: delivery.run_id,
    status: delivery.status,
    accepted_at: delivery.created_at,
    started_at: delivery.started_at,
    closed_at: delivery.closed_at,
    attempts: delivery.attempts.map(recordAttempt),
    interventions: interventions.length > 0 ? interventions.map(recordIntervention) : undefined,
    earlier_runs: earlier_runs.length > 0 ? earlier_runs.map(recordRun) : undefined,
    payload_bytes: delivery.payload_bytes,
    payload_commitment: payload,
    details_commitment: details,
  };
}

function recordAttempt(attempt: Attempt): RecordedAttempt {
  const { number, at, duration_ms, trigger, endpoint_version, lost_tries, status_code, error_code } = attempt;
  return { number, at, duration_ms, trigger, endpoint_version, lost_tries, status_code, error_code };
}

function recordIntervention({ action, at, by, replay }: Intervention): RecordedIntervention {
  return { action, at, by, replay };
}

function recordRun({ run_id, status, started_at, closed_at, attempts }: RunToRecord): RecordedRun {
  return { run_id, status, started_at, closed_at, attempts: attempts.length };
}

/** A change with the salt of its record. */
export interface SaltedChange {
  change: Change;
  /**
   * Random bytes, kept with the change alone: the commitment says nothing once that is gone. Absent if somebody has
   * taken it away.
   */
  salt: Buffer | undefined;
}

/** The record of a change. */
export function changeRecord(accountId: string, { change, salt }: SaltedChange): ChangeRecord {
  const { id, resource, action, outcome, at, actor, version, changed, replay } = change;
  return {
    type: 'change',
    format: RECORD_FORMAT,
    account_id: accountId,
    change_id: id,
    resource,
    action,
    outcome,
    at,
    actor_type: actor.type,
    actor_id: actor.id,
    version,
    changed,
    replay,
    details_commitment: salt && commitToDetails(salt, changeDetails(change)),
  };
}
