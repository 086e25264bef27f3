import { isId } from '../../../domain/basics/ids.js';
import { type Origin, resourceName } from '../../../domain/change/change.js';
import { notFound } from '../../../domain/http/problem.js';
import { hostOf } from '../../../domain/ledger/summaries.js';
import type { ApiDependencies } from '../../http/context.js';

/**
 * Deletes an endpoint of an account, and has what waits for it end. An endpoint that was deleted before is not found; what waits for it ends
 * all the same, because the request that deleted it may have been cut off before that.
 *
 * @throws Problem 404 if the account has no such endpoint
 */
export async function deleteEndpoint(
  { database: { changes, endpoints, listeners }, starter }: Pick<ApiDependencies, 'database' | 'starter'>,
  account_id: string,
  id: string,
  origin: Origin,
): Promise<void> {
  if (!isId('endpoint', id)) throw notFound('endpoint', id);
  const endpoint = await endpoints.get(account_id, id);
  const isDeleted = endpoint !== undefined && (await endpoints.delete(account_id, id, origin));
  if (isDeleted && endpoint.listener) await listeners.remove(id);
  const isKnown =
    isDeleted || (await changes.stateAt(account_id, resourceName('endpoint', id), new Date())).known;
  if (isKnown) await starter.release({ account_id, endpoint_id: id, host: hostOf(endpoint?.target_url) });
  if (!isDeleted) throw notFound('endpoint', id);
}
