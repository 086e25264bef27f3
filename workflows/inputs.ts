import type { AcceptedEvent, DeliverySettings, DeliveryTarget } from '../src/domain/delivery.js';

export interface DeliverEventInput extends AcceptedEvent, DeliverySettings {
  endpoint_id: string;
}

export interface FanOutEventInput extends AcceptedEvent, DeliverySettings {
  targets: DeliveryTarget[];
}

export interface FanOutEventResult {
  /** How many were started. */
  deliveries: number;
}
