import type { ShownStatus } from '../delivery/delivery.js';

/** Deliveries of an event whose end can be waited for together. */
export const MAX_AWAITED_DELIVERIES = 500;

/** An event whose deliveries are waited for. */
export interface AwaitedEvent {
  account_id: string;
  event_id: string;
  event_kind: string;
  delivery_count: number;
}

/** How all deliveries of an event ended. */
export interface EventOutcome {
  id: string;
  kind: string;
  delivery_count: number;
  /** In the order of their ids. */
  deliveries: { id: string; endpoint_id: string; status: ShownStatus }[];
}
