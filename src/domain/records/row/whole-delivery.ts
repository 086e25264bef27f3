import type { DeliverySnapshot } from '../../delivery/delivery-state.js';
import type { TimelineItem } from '../../explain/timeline.js';
import type { Delivery } from '../../view/delivery-view.js';

/** An event, as far as rows of its deliveries say anything of it. */
export interface EventOfRow {
  account_id: string;
  event_id: string;
  event_kind: string;
  /** Tokens of its business keys. */
  keys: readonly string[];
  sequence?: number | undefined;
  /** SHA-256 of the payload, hexadecimal; absent if it cannot be read any more. */
  payload_sha256?: string | undefined;
  payload_bytes: number;
  payload_erased?: true | undefined;
}

/** How far a delivery is, beside its record: see {@link DeliverySnapshot}. */
export type Progress = Omit<DeliverySnapshot, 'record'>;

/** A delivery with all that its row says of it. */
export interface WholeDelivery {
  delivery: Delivery;
  timeline: TimelineItem[];
  /** Absent if an execution did not tell it: it was terminated. */
  progress?: Progress | undefined;
  max_attempts?: number | undefined;
}

/** A run of a delivery, and how often it has told of it. */
export interface RunSoFar {
  /** Its execution; empty if that is not known. */
  workflow_id: string;
  run_id: string;
  turn: number;
}
