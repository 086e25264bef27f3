import { present } from '../basics/objects.js';
import {
  type AcceptedEvent,
  CLOSED_STATUSES,
  type ClosedStatus,
  type DeliveryRecord,
} from '../delivery/delivery.js';

/**
 * The end of a delivery, as it is counted. Facts that workflows pass to the worker's process. A delivery that was
 * terminated in Temporal has no end of its own, so it is not counted.
 */
export interface Closing extends Pick<AcceptedEvent, 'account_id' | 'event_id' | 'event_kind'> {
  endpoint_id: string;
  status: ClosedStatus;
  /** How many attempts it took. */
  attempts: number;
  /** Fields of the span, if the delivery is traced. */
  traced?: Required<Pick<AcceptedEvent, 'traceparent' | 'accepted_at'>> & Pick<AcceptedEvent, 'tracestate'>;
}

/** The end of a delivery; `undefined` while it is open. */
export function closingOf(
  event: Pick<
    AcceptedEvent,
    'account_id' | 'event_kind' | 'event_id' | 'accepted_at' | 'traceparent' | 'tracestate'
  >,
  endpoint_id: string,
  { status: reached, attempts }: DeliveryRecord,
): Closing | undefined {
  const status = CLOSED_STATUSES.find((one) => one === reached);
  if (!status) return undefined;
  const { account_id, event_kind, event_id, accepted_at, traceparent, tracestate } = event;
  const traced = traceparent === undefined ? undefined : present({ traceparent, tracestate, accepted_at });
  return present({
    account_id,
    event_id,
    endpoint_id,
    event_kind,
    status,
    attempts: attempts.length,
    traced,
  });
}
