import { parseDuration } from '../basics/duration.js';
import type { Endpoint } from '../endpoint/endpoint.js';
import type { DeliveryTarget } from './delivery.js';

/** Whether an endpoint receives events: not before its first verification. While it is verified again, they are parked. */
export function takesEvents({ status, verified_at }: Endpoint): boolean {
  return status !== 'pending' || verified_at !== undefined;
}

/** An endpoint as the target of a delivery. */
export function toTarget({ id, retry_schedule }: Endpoint): DeliveryTarget {
  return { endpoint_id: id, ...(retry_schedule && { schedule: retry_schedule.map(parseDuration) }) };
}
