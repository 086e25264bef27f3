import { parseDuration } from '../basics/duration.js';
import type { Endpoint } from '../endpoint/endpoint.js';
import { matchesKind } from '../event/event-kinds.js';
import { matchesFilter } from '../event/filter.js';
import type { DeliveryTarget } from './delivery.js';

/**
 * The endpoints that an event goes to: those that take events, name its kind, and whose filter its payload meets.
 *
 * @param endpoints all endpoints of the event's account
 * @param kind the name of the event's kind
 * @param payload parsed
 */
export function recipientsOf(
  endpoints: readonly Endpoint[],
  kind: string,
  payload: unknown,
): DeliveryTarget[] {
  return endpoints
    .filter((endpoint) => takesEvents(endpoint) && matchesKind(endpoint.event_kinds, kind))
    .filter(({ filter }) => filter === undefined || matchesFilter(filter, payload))
    .map(toTarget);
}

/** A pending endpoint that was never verified gets no events. One that has to be verified again has them parked until then. */
function takesEvents({ status, verified_at }: Endpoint): boolean {
  return status !== 'pending' || verified_at !== undefined;
}

/** An endpoint as a delivery needs it. */
export function toTarget({ id, retry_schedule }: Endpoint): DeliveryTarget {
  return { endpoint_id: id, ...(retry_schedule && { schedule: retry_schedule.map(parseDuration) }) };
}
