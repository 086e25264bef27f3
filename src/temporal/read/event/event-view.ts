import type { DeliverySummary } from '../delivery-view.js';
import type { FanOutProgress } from './fan-out-progress.js';

/** An event as a list shows it. */
export interface EventSummary {
  id: string;
  kind: string;
  created_at: string;
  /** Its number in the account's sequence; absent if it has none. */
  sequence?: number;
}

/** An event with its payload, exactly as it was received, and the first of its deliveries. */
export interface EventWithPayload extends EventSummary {
  /** Absent if it cannot be read any more: it was kept for its time, or erased. */
  payload: string | undefined;
  /** Its payload was erased. */
  is_erased: boolean;
  /** It is a test of one endpoint. */
  is_test?: true;
  /** Absent if its deliveries were started before it was answered. */
  fan_out: FanOutProgress | undefined;
  deliveries: DeliverySummary[];
}
