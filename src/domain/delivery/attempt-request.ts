import { present } from '../basics/objects.js';
import type { AcceptedEvent, DeliveryGroup } from './delivery.js';
import type { MemberAttempt } from './delivery-group.js';

/** An attempt to make. */
export interface AttemptRequest
  extends Pick<
      AcceptedEvent,
      'account_id' | 'event_id' | 'event_kind' | 'payload' | 'traceparent' | 'tracestate'
    >,
    Omit<MemberAttempt, 'index'> {
  endpoint_id: string;
  /** The payload is sealed. */
  sealed?: true;
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
 * The request for an attempt at a delivery of a group. Whoever starts a delivery and the delivery's workflow both ask
 * for the first attempt, so what they ask for is put together here alone.
 *
 * @param timeout_ms time for the endpoint to answer
 * @returns `undefined` if the group has no such delivery
 */
export function attemptRequest(
  { events, deliveries }: DeliveryGroup,
  timeout_ms: number,
  { index, ...how }: MemberAttempt & Pick<AttemptRequest, 'isolated' | 'placed' | 'slot_wait_ms'>,
): AttemptRequest | undefined {
  const delivery = deliveries[index];
  const event = delivery && events[delivery.event];
  if (!event) return undefined;
  const { account_id, event_id, event_kind, payload, traceparent, tracestate } = event;
  const { endpoint_id } = delivery;
  const sealed = event.sealed && (true as const);
  const of = { account_id, event_id, endpoint_id, event_kind, payload, sealed, traceparent, tracestate };
  return present({ ...of, timeout_ms, ...how, lost_tries: how.lost_tries || undefined });
}
