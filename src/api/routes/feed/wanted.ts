import { matchesFilter, valuesOf } from '../../../../packages/payload-contract/src/index.js';
import type { Endpoint } from '../../../domain/endpoint/endpoint.js';
import { matchesKind } from '../../../domain/event/event-kinds.js';
import type { Wanted } from '../../../models/feed/feed-reader.js';

/**
 * The events that an endpoint is registered for now, without those whose producer named other endpoints. One whose
 * payload is gone meets no filter.
 */
export function wantedBy(endpoint: Pick<Endpoint, 'id' | 'event_kinds' | 'filter'>): Wanted {
  const { id, event_kinds, filter } = endpoint;
  return {
    isOfKind: (kind) => matchesKind(event_kinds, kind),
    matches: ({ payload, named_endpoints }) =>
      (named_endpoints?.includes(id) ?? true) &&
      (filter === undefined || (payload !== undefined && matchesFilter(filter, valuesOf(payload)))),
  };
}

/** All events of an account. */
export const EVERYTHING: Wanted = { isOfKind: () => true, matches: () => true };
