import { z } from 'zod';
import { idPattern } from '../basics/ids.js';
import type { NamedOrigin } from '../change/change.js';
import { KEY_ID } from './data-key.js';

/** Rule for a subject's open deliveries: they are cancelled, or the key is erased once they have ended. */
export const OPEN_RULES = ['cancel', 'finish'] as const;

export type OpenRule = (typeof OPEN_RULES)[number];

/**
 * A subject that is to be erased: input of its workflow. It names the subject by the id of its key, which says nothing
 * about anybody once the key is gone.
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
  origin: NamedOrigin;
}

/**
 * Where an erasure stands: `waiting` for open deliveries to end, `erased`: the key is gone, `complete`: nothing of the
 * subject is open.
 */
export const ERASURE_STATUSES = ['waiting', 'erased', 'complete'] as const;

export type ErasureStatus = (typeof ERASURE_STATUSES)[number];

const time = z.iso.datetime().max(40);
const count = z.int().min(0);

/** The certificate of an erasure. It names nobody. */
export const erasureSchema = z.strictObject({
  id: z.string().regex(idPattern('erasure')),
  status: z.enum(ERASURE_STATUSES),
  open: z.enum(OPEN_RULES),
  requested_at: time,
  /** The API key or OAuth client that asked for it. */
  requested_by: z.string().min(1).max(200),
  /** When the key was deleted. */
  erased_at: time.optional(),
  completed_at: time.optional(),
  /** When a restored backup had brought the key back, and it was deleted again. */
  reapplied_at: time.optional(),
  /** The key that was deleted. Everything that it sealed names it, and cannot be read any more. */
  key: z.strictObject({ id: z.string().regex(KEY_ID), created_at: time }),
  /** Data about the subject that was kept when it was erased. */
  covered: z.strictObject({
    events: count,
    deliveries: count,
    /** Deliveries that were open. */
    open_deliveries: count,
  }),
  /** Open deliveries that were cancelled because of it, so far. */
  cancelled_deliveries: count,
});

export type Erasure = z.output<typeof erasureSchema>;

/** Data about a subject that was kept when it was erased. */
export type ErasureScope = Erasure['covered'];
