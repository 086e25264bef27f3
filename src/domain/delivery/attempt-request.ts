import type { Trigger } from '../attempt/attempt.js';
import type { AcceptedEvent, DeliveryGroup } from './delivery.js';

/** An attempt to make: what the attempt activity is called with. A Temporal payload. */
export interface AttemptRequest {
  account_id: string;
  event_id: string;
  endpoint_id: string;
  event_kind: string;
  payload: string;
  /** The payload is sealed. */
  sealed?: true;
  number: number;
  trigger: Trigger;
  timeout_ms: number;
  /** Made in the isolated lane, where its endpoint may be slow or failing. */
  isolated?: boolean;
  /** This process has just decided that it is made in the direct lane, as it started the delivery; it need not have known the endpoint's mark. */
  placed?: boolean;
  /** Its turn under the endpoint's rate limit, for which it has waited. ISO 8601, UTC. */
  turn?: string;
  /** How long it may wait for one of the endpoint's slots, even if the endpoint is slow. Milliseconds. */
  slot_wait_ms?: number;
  /** So many tries of it may have been sent before: `lost_tries` of its record. */
  lost_tries?: number;
  /** Of its event. */
  traceparent?: string;
}

/** Which attempt of a delivery it is. */
export interface AttemptDetails {
  /** 1 for the first. */
  number: number;
  trigger: Trigger;
  isolated?: boolean;
  placed?: boolean;
  /** ISO 8601, UTC. */
  turn?: string | undefined;
  /** Milliseconds. */
  slotWaitMs?: number;
  lostTries?: number | undefined;
}

/** The first attempt of a delivery that was just accepted, in the direct lane. */
export const FIRST_ATTEMPT: AttemptDetails = { number: 1, trigger: 'schedule' };

/**
 * The request for an attempt. Whoever starts a delivery and the delivery's workflow both ask for the first attempt, so what they ask for
 * is put together here alone.
 *
 * @param timeoutMs time for the endpoint to answer
 */
export function attemptRequest(
  { account_id, event_id, event_kind, payload, sealed, traceparent }: AcceptedEvent,
  endpointId: string,
  timeoutMs: number,
  { number, trigger, isolated, placed, turn, slotWaitMs, lostTries }: AttemptDetails,
): AttemptRequest {
  return {
    account_id,
    event_id,
    endpoint_id: endpointId,
    event_kind,
    payload,
    ...(sealed && { sealed: true }),
    number,
    trigger,
    timeout_ms: timeoutMs,
    ...(isolated && { isolated }),
    ...(placed && { placed }),
    ...(turn !== undefined && { turn }),
    ...(slotWaitMs !== undefined && { slot_wait_ms: slotWaitMs }),
    ...(lostTries && { lost_tries: lostTries }),
    ...(traceparent !== undefined && { traceparent }),
  };
}

/** The request for an attempt at a delivery of a group, by its index there. @returns `undefined` if the group has no such delivery */
export function memberAttemptRequest(
  { events, deliveries }: DeliveryGroup,
  timeoutMs: number,
  { index, ...details }: AttemptDetails & { index: number },
): AttemptRequest | undefined {
  const delivery = deliveries[index];
  const event = delivery && events[delivery.event];
  return event && attemptRequest(event, delivery.endpoint_id, timeoutMs, details);
}
