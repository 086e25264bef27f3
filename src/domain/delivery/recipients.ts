import { matchesFilter, PayloadValues } from '../../../packages/payload-contract/src/filter/index.js';
import { parseDuration } from '../basics/duration.js';
import { isId } from '../basics/ids.js';
import type { Endpoint } from '../endpoint/endpoint.js';
import { matchesKind } from '../event/event-kinds.js';
import { orderKeyFor } from '../event/ordering.js';
import type { DeliveryTarget } from './delivery.js';

/** Endpoints that one event may name. */
export const MAX_NAMED_ENDPOINTS = 20;

/** Rule for a list of endpoints, as the end of a sentence. */
export const NAMED_ENDPOINTS_RULE = `must be 1 to ${MAX_NAMED_ENDPOINTS} ids of endpoints (ep_…)`;

/**
 * The endpoints that an event goes to: those that take events, name its kind, and whose filter its payload meets.
 *
 * @param endpoints all endpoints of the event's account
 * @param kind the name of the event's kind
 * @param payload parsed, or its values
 */
export function recipientsOf(
  endpoints: readonly Endpoint[],
  kind: string,
  payload: unknown,
): DeliveryTarget[] {
  return takersOf(endpoints, kind, payload).map(toTarget);
}

/** The same, each with the order in which it gets events. @param token of the event's order key, if it has one */
export function orderedRecipientsOf(
  endpoints: readonly Endpoint[],
  kind: string,
  payload: unknown,
  token: string | undefined,
): DeliveryTarget[] {
  return takersOf(endpoints, kind, payload).map((endpoint) => {
    const order_key = orderKeyFor(endpoint, token);
    return { ...toTarget(endpoint), ...(order_key !== undefined && { order_key }) };
  });
}

function takersOf(endpoints: readonly Endpoint[], kind: string, payload: unknown): Endpoint[] {
  const values = PayloadValues.of(payload);
  return endpoints.filter((endpoint) => refusalOf(endpoint, kind, values) === undefined);
}

/** An endpoint, as far as it decides which events it gets. */
export type Subscription = Pick<
  Endpoint,
  'status' | 'status_changed_at' | 'verified_at' | 'event_kinds' | 'filter'
>;

/**
 * Why an endpoint does not get an event; `undefined` if it does.
 *
 * @param payload parsed, or what has been looked up in it for other endpoints
 */
export function refusalOf(
  { status, verified_at, ...selection }: Omit<Subscription, 'status_changed_at'>,
  kind: string,
  payload: unknown,
): 'pending' | 'kind' | 'filter' | undefined {
  // One that has to be verified again has its events parked until then.
  if (status === 'pending' && verified_at === undefined) return 'pending';
  return mismatchOf(selection, kind, payload);
}

/** The events that an endpoint is registered for. */
export type EventSelection = Pick<Endpoint, 'event_kinds' | 'filter'>;

/** Why an event is not one of a selection; `undefined` if it is. @param payload as for {@link refusalOf} */
export function mismatchOf(
  { event_kinds, filter }: EventSelection,
  kind: string,
  payload: unknown,
): 'kind' | 'filter' | undefined {
  if (!matchesKind(event_kinds, kind)) return 'kind';
  return filter === undefined || matchesFilter(filter, payload) ? undefined : 'filter';
}

/** An endpoint as a delivery needs it. */
export function toTarget({ id, retry_schedule }: Endpoint): DeliveryTarget {
  return { endpoint_id: id, ...(retry_schedule && { schedule: retry_schedule.map(parseDuration) }) };
}

/**
 * Reads the header `Hookline-Endpoints`: ids with commas between.
 *
 * @returns each id once; `undefined` if it is not that
 */
export function parseEndpointsHeader(text: string): string[] | undefined {
  const ids = text.split(',', MAX_NAMED_ENDPOINTS + 1).map((id) => id.trim());
  const isValid = ids.length <= MAX_NAMED_ENDPOINTS && ids.every((id) => isId('endpoint', id));
  return isValid ? [...new Set(ids)] : undefined;
}
