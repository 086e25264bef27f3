import { type Change, resourceName } from '../../../domain/change/change.js';
import { type EndpointFacts, NOTICED_WITHIN_MS } from '../../../domain/explain/explain-absence.js';
import type { EndpointNow } from '../../../domain/explain/explain-delivery.js';
import { endpointAt } from '../../../models/endpoint/registrations.js';
import type { ApiDependencies } from '../../http/context.js';

type FactDependencies = Pick<ApiDependencies, 'database' | 'incidents'>;

/** When and by whom something was done. */
interface Done {
  at: string;
  by: string;
}

/** Facts about an endpoint as it was when an event was accepted; `undefined` if the account never had it. */
export async function endpointFacts(
  { database }: FactDependencies,
  accountId: string,
  id: string,
  acceptedAt: string,
): Promise<EndpointFacts | undefined> {
  const [[last], endpoint] = await Promise.all([
    database.changes.list(accountId, { resource: resourceName('endpoint', id) }, 1),
    database.endpoints.getFresh(accountId, id),
  ]);
  if (!last && !endpoint) return undefined;
  const at = Date.parse(acceptedAt);
  const asOf = (time: number) =>
    endpointAt(database.changes, accountId, id, new Date(time), async () => endpoint);
  const [atAcceptance, shortlyBefore] = await Promise.all([asOf(at), asOf(at - NOTICED_WITHIN_MS)]);
  return { id, atAcceptance, shortlyBefore, deleted: deletionIn(last) };
}

/** An endpoint of an account as it is now; `undefined` if it has been deleted. */
export async function endpointNow(
  { database, incidents }: FactDependencies,
  accountId: string,
  id: string,
): Promise<EndpointNow | undefined> {
  const endpoint = await database.endpoints.getFresh(accountId, id);
  if (!endpoint) return undefined;
  const { status, status_reason, status_changed_at, failing } = endpoint;
  const [changes, incident] = await Promise.all([
    status === 'active'
      ? []
      : database.changes.list(accountId, { resource: resourceName('endpoint', id) }, 100),
    incidents.of({ account_id: accountId, endpoint_id: id }, failing),
  ]);
  const change = changes.find(({ changed }) => changed.includes('/status'));
  return { status, status_reason, status_changed_at, status_changed_by: change?.actor.id, incident };
}

/** When and by whom an endpoint was deleted; `undefined` if it was not, or that is not kept any more. */
export async function deletionOf(
  { database }: FactDependencies,
  accountId: string,
  id: string,
): Promise<Done | undefined> {
  const [last] = await database.changes.list(accountId, { resource: resourceName('endpoint', id) }, 1);
  return deletionIn(last);
}

function deletionIn(last: Change | undefined): Done | undefined {
  return last?.action === 'deleted' ? { at: last.at, by: last.actor.id } : undefined;
}
