import type { AcceptedEvent, DeliveryRecord, DeliveryStatus } from '../delivery/delivery.js';

/** How a delivery ends. A delivery that was terminated in Temporal has no end of its own, so it is not counted. */
export const CLOSED_STATUSES = [
  'delivered',
  'exhausted',
  'expired',
  'cancelled',
] as const satisfies readonly DeliveryStatus[];

export type ClosedStatus = (typeof CLOSED_STATUSES)[number];

/** The end of a delivery, as it is counted. What workflows pass to the worker's process. */
export interface Closing {
  account_id: string;
  event_id: string;
  endpoint_id: string;
  event_kind: string;
  status: ClosedStatus;
  /** How many attempts it took. */
  attempts: number;
  /** Of a delivery that is traced: what its span is made of. */
  traced?: ClosingTrace;
}

interface ClosingTrace {
  traceparent: string;
  /** ISO 8601, UTC. */
  accepted_at: string;
}

/** The end of a delivery; `undefined` while it is open. */
export function closingOf(
  event: Pick<AcceptedEvent, 'account_id' | 'event_kind' | 'event_id' | 'accepted_at' | 'traceparent'>,
  endpoint_id: string,
  { status: reached, attempts }: DeliveryRecord,
): Closing | undefined {
  const status = CLOSED_STATUSES.find((one) => one === reached);
  const { account_id, event_kind, event_id, accepted_at, traceparent } = event;
  return (
    status && {
      account_id,
      event_id,
      endpoint_id,
      event_kind,
      status,
      attempts: attempts.length,
      ...(traceparent !== undefined && { traced: { traceparent, accepted_at } }),
    }
  );
}
