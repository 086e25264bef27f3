import type { Cause } from '../attempt/cause.js';
import type { DeliveryRecord, ShownStatus } from '../delivery/delivery.js';
import type { AskedAttempt, AttemptView, LastAttempt } from './attempt-view.js';

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

/** Record of one run of a delivery. */
type Happened = Pick<DeliveryRecord, 'interventions'> & { attempts: AttemptView[] };

/** A run of a delivery before it was resent. */
export type EarlierRun = Pick<
  DeliverySummary,
  'run_id' | 'status' | 'created_at' | 'started_at' | 'closed_at' | 'reason'
> &
  Happened;

/** View of a run before a delivery was resent. */
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
