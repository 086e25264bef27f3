import type { DecidingClause } from '../../../packages/payload-contract/src/filter/index.js';

/** Why a delivery is as it is, or is not there. Stable: part of the HTTP interface. */
export const VERDICT_CODES = [
  // There is a delivery.
  'delivered',
  'in_flight',
  'retrying',
  'retry_after',
  'waits_its_turn',
  'waits_in_order',
  'delivery_paused',
  'endpoint_paused',
  'endpoint_disabled',
  'endpoint_failing',
  'endpoint_pending',
  'endpoint_gone',
  'address_blocked',
  'release_pending',
  'workflow_failing',
  'event_altered',
  'exhausted',
  'expired',
  'cancelled',
  'endpoint_deleted',
  'subject_erased',
  'terminated',
  // There is none.
  'event_unknown',
  'endpoint_unknown',
  'registered_later',
  'deleted_before',
  'pending_then',
  'kind_not_registered',
  'filter_not_met',
  'test_of_another_endpoint',
  'not_named',
  'scheduled',
  'changed_just_before',
  'not_started_yet',
  'not_kept',
  'not_found',
] as const;

export type VerdictCode = (typeof VERDICT_CODES)[number];

/** The answer to "why did this endpoint get this event, or not?" */
export interface Verdict {
  code: VerdictCode;
  /** Human-readable, with its evidence. */
  summary: string;
  /** Since when it is so. ISO 8601, UTC. */
  since?: string;
  /** Author: the id of an API key or OAuth client, or a part of Hookline. */
  by?: string;
  /** When an attempt is due. ISO 8601, UTC. */
  next_attempt_at?: string;
  /** The parts of the endpoint's filter, as it was then, that the payload did not meet. */
  clauses?: DecidingClause[];
}
