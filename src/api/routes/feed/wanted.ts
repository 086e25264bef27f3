import { matchesFilter, valuesOf } from '../../../../packages/payload-contract/src/index.js';
import type { Endpoint } from '../../../domain/endpoint/endpoint.js';
import { matchesKind } from '../../../domain/event/event-kinds.js';
import type { Wanted } from '../../../models/feed/feed-reader.js';

/**
 * The events that an endpoint is registered for now, without those whose producer named other endpoints. One whose
 * payload is gone meets no filter.
 *
 * @param always id of an event that is wanted in any case
 */
export function wantedBy(
  endpoint: Pick<Endpoint, 'id' | 'event_kinds' | 'filter'>,
  always?: string | undefined,
): Wanted {
  const { id, event_kinds, filter } = endpoint;
  return {
    mayMatch: (head) => head.id === always || matchesKind(event_kinds, head.kind),
    matches: ({ id: eventId, payload, named_endpoints }) =>
      eventId === always ||
      ((named_endpoints?.includes(id) ?? true) &&
        (filter === undefined || (payload !== undefined && matchesFilter(filter, valuesOf(payload))))),
  };
}

/** All events of an account. */
export const EVERYTHING: Wanted = { mayMatch: () => true, matches: () => true };
