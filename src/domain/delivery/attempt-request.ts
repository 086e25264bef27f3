import { present } from '../basics/objects.js';
import type { AttemptOrder, MemberAttempt } from './attempt-order.js';
import type { NamedEvent } from './delivery.js';

/** An attempt to make. */
export interface AttemptRequest
  extends Pick<NamedEvent, 'account_id' | 'event_id' | 'event_kind' | 'traceparent' | 'tracestate'>,
    Omit<MemberAttempt, 'index'> {
  endpoint_id: string;
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
 * The request for an attempt. Whoever starts a delivery and the delivery's workflow both ask for the first attempt, so
 * what they ask for is put together here alone.
 *
 * @param timeout_ms time for the endpoint to answer
 */
export function attemptRequest(
  { event, endpoint_id, attempt }: Pick<AttemptOrder, 'event' | 'endpoint_id' | 'attempt'>,
  timeout_ms: number,
  how: Pick<AttemptRequest, 'isolated' | 'placed' | 'slot_wait_ms'> = {},
): AttemptRequest {
  const { account_id, event_id, event_kind, traceparent, tracestate } = event;
  const { index: _, lost_tries, ...which } = attempt;
  const of = { account_id, event_id, endpoint_id, event_kind, traceparent, tracestate };
  return present({ ...of, timeout_ms, ...which, ...how, lost_tries: lost_tries || undefined });
}
