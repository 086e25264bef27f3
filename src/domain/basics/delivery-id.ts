import { ULID } from './id-time.js';

/** The two facts that name a delivery. */
export interface DeliveryKey {
  event_id: string;
  endpoint_id: string;
}

/** The form of deliveries' ids. */
export const DELIVERY_ID_PATTERN = new RegExp(`^dlv_(${ULID})_(${ULID})$`);

/** A delivery's public id. It holds its event's and its endpoint's, so that none has to be looked up. */
export function deliveryId(key: DeliveryKey): string {
  return `dlv_${key.event_id.slice('evt_'.length)}_${key.endpoint_id.slice('ep_'.length)}`;
}

/** The inverse of {@link deliveryId}; `undefined` if the text is not a delivery id. */
export function parseDeliveryId(text: string): DeliveryKey | undefined {
  const [, event, endpoint] = DELIVERY_ID_PATTERN.exec(text) ?? [];
  return event && endpoint ? { event_id: `evt_${event}`, endpoint_id: `ep_${endpoint}` } : undefined;
}

/** Names an attempt at an endpoint: the event's id and the attempt's number. */
export function attemptName(eventId: string, number: number): string {
  return `${eventId}:${number}`;
}

/** The inverse of {@link attemptName}; `undefined` if a text is no such name. */
export function parseAttemptName(text: string): { event_id: string; number: number } | undefined {
  const [, event_id, number] = /^(evt_\w+):(\d{1,9})$/.exec(text) ?? [];
  return event_id && number ? { event_id, number: Number(number) } : undefined;
}
