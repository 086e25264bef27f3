import type { AttemptReport } from '../activities/ports.js';
import type {
  AcceptedEvent,
  DeliveryGroup,
  DeliveryRecord,
  DeliverySettings,
  DeliveryTarget,
} from '../src/domain/delivery.js';

export interface DeliverEventInput extends AcceptedEvent, DeliverySettings {
  endpoint_id: string;
  /** What came of the first attempt, where a group has made it. */
  first_report?: AttemptReport;
}

export interface DeliverGroupInput extends DeliveryGroup, DeliverySettings {}

export interface DeliverGroupResult {
  /** A record for each delivery of the group, in its order; `null` for one that goes on as a workflow of its own. */
  deliveries: (DeliveryRecord | null)[];
}

export interface FanOutEventInput extends AcceptedEvent, DeliverySettings {
  targets: DeliveryTarget[];
}

export interface FanOutEventResult {
  /** How many were started. */
  deliveries: number;
}
