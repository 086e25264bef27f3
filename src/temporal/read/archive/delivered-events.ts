import { ENDPOINT_ATTRIBUTE } from '../../../domain/ledger/search-attributes.js';
import { DELIVERY_TYPE } from '../../../domain/ledger/workflow-ids.js';
import { deliveriesOf } from '../delivery-view.js';
import { equals } from '../visibility/query.js';
import { executionsOf, type ListSources } from './both-lists.js';

/** The ids of those of some events that an endpoint has got, in whichever run of their deliveries. */
export async function deliveredEvents(
  { client, archive, accountId }: ListSources,
  endpointId: string,
  eventIds: readonly string[],
): Promise<Set<string>> {
  if (eventIds.length === 0) return new Set();
  const wanted = new Set(eventIds);
  const delivered = new Set<string>();
  const clauses = [equals('WorkflowType', DELIVERY_TYPE), equals(ENDPOINT_ATTRIBUTE.name, endpointId)];
  for await (const execution of executionsOf(client, accountId, eventIds, clauses))
    for (const { summary } of deliveriesOf(execution, accountId))
      if (
        summary.endpoint_id === endpointId &&
        summary.status === 'delivered' &&
        wanted.has(summary.event_id)
      )
        delivered.add(summary.event_id);
  const filter = { endpoint_id: endpointId, event_ids: eventIds, statuses: ['delivered'] } as const;
  for (const { event_id } of await archive.deliveries(accountId, filter, {}, eventIds.length))
    delivered.add(event_id);
  return delivered;
}
