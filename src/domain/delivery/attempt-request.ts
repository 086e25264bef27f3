import { present } from '../basics/objects.js';
import type { AttemptOrder, FirstOrder, MemberAttempt } from './attempt-order.js';
import type { NamedEvent } from './delivery.js';

/** An attempt to make. */
export interface AttemptRequest
  extends Pick<NamedEvent, 'account_id' | 'event_id' | 'event_kind' | 'traceparent' | 'tracestate'>,
    Omit<MemberAttempt, 'index'> {
  endpoint_id: string;
  /** Token of the order key of the event; absent without an order. */
  order_key?: string;
  /** It was sent again, or through a replay: its order is over. */
  is_resend?: boolean;
  timeout_ms: number;
  /** Made in the isolated lane, where its endpoint may be slow or failing. */
  isolated?: boolean;
  /**
   * This process has just decided that it is made in the direct lane, as it started the delivery; it need not have
   * known the endpoint's mark.
   */
  placed?: boolean;
  /** How long it may wait for one of the endpoint's slots, even if the endpoint is slow. Milliseconds. */
  slot_wait_ms?: number;
}

/**
 * The request for an attempt. The starter of a delivery and its workflow both ask for the first attempt, so the request
 * is built in this one place.
 *
 * @param timeout_ms time for the endpoint to answer
 */
export function attemptRequest(
  { event, endpoint_id, order_key, attempt, snapshot }: FirstOrder & Partial<Pick<AttemptOrder, 'snapshot'>>,
  timeout_ms: number,
  how: Pick<AttemptRequest, 'isolated' | 'placed' | 'slot_wait_ms'> = {},
): AttemptRequest {
  const { account_id, event_id, event_kind, traceparent, tracestate } = event;
  const { index: _, lost_tries, ...which } = attempt;
  const of = { account_id, event_id, endpoint_id, event_kind, traceparent, tracestate };
  const first = snapshot?.record.interventions?.[0]?.action;
  const is_resend = order_key !== undefined && (first === 'resend' || first === 'replay') ? true : undefined;
  return present({
    ...of,
    order_key,
    is_resend,
    timeout_ms,
    ...which,
    ...how,
    lost_tries: lost_tries || undefined,
  });
}
