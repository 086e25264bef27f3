import type { Origin } from '../change/change.js';

/** What happens to a subject's open deliveries: they are cancelled, or the key is erased once they have ended. */
export const OPEN_RULES = ['cancel', 'finish'] as const;

export type OpenRule = (typeof OPEN_RULES)[number];

/**
 * A subject that is to be erased: input of its workflow. It names the subject by the id of its key, which says nothing about anybody once
 * the key is gone.
 */
export interface ErasurePlan {
  account_id: string;
  erasure_id: string;
  key_id: string;
  /** When the key was made. ISO 8601, UTC. */
  key_created_at: string;
  open: OpenRule;
  /** ISO 8601, UTC. */
  requested_at: string;
  origin: Origin;
}

/** Where an erasure stands: `waiting` for open deliveries to end, `erased`: the key is gone, `complete`: nothing of the subject is open. */
export const ERASURE_STATUSES = ['waiting', 'erased', 'complete'] as const;

export type ErasureStatus = (typeof ERASURE_STATUSES)[number];

/** What was kept of a subject when it was erased. */
export interface ErasureScope {
  events: number;
  deliveries: number;
  /** Deliveries that were open. */
  open_deliveries: number;
}

/** The certificate of an erasure. It names nobody. */
export interface Erasure {
  id: string;
  status: ErasureStatus;
  open: OpenRule;
  requested_at: string;
  /** The API key or OAuth client that asked for it. */
  requested_by: string;
  /** When the key was deleted. ISO 8601, UTC. */
  erased_at?: string;
  completed_at?: string;
  /** When a restored backup had brought the key back, and it was deleted again. ISO 8601, UTC. */
  reapplied_at?: string;
  /** The key that was deleted. Everything that it sealed names it, and cannot be read any more. */
  key: { id: string; created_at: string };
  covered: ErasureScope;
  /** Open deliveries that were cancelled because of it, so far. */
  cancelled_deliveries: number;
}
