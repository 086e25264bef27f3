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
