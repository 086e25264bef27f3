import type { Origin } from '../../../domain/change/change.js';
import type { SignatureScheme } from '../../../domain/delivery/signature.js';
import { Problem } from '../../../domain/http/problem.js';
import { hostOf } from '../../../domain/ledger/summaries.js';
import type { StoredEndpoint } from '../../../models/endpoint/endpoint-document.js';
import type { EndpointRepository } from '../../../models/endpoint/endpoints.js';
import type { ApiDependencies } from '../../http/context.js';
import { requireRoomForFilter } from './check-filters.js';

/**
 * Registers an endpoint or a listener, and starts its verification if it needs one.
 *
 * @throws Problem 409 if the account has as many endpoints as it may have, or its filters have no room for this one
 */
export async function createEndpoint(
  { settings, database, endpointWorkflows }: ApiDependencies,
  accountId: string,
  input: Parameters<EndpointRepository['create']>[1],
  scheme: SignatureScheme,
  origin: Origin,
): Promise<StoredEndpoint> {
  const { endpoints } = database;
  const { max_endpoints: limit = settings.HOOKLINE_MAX_ENDPOINTS } =
    (await database.accounts.current(accountId))?.limits ?? {};
  const { filter } = 'listener' in input ? input.listener : input;
  const endpoint = await database.accountLocks.hold(accountId, 'endpoints', async () => {
    if ((await endpoints.count(accountId)) >= limit) {
      throw new Problem(
        'endpoint_limit_reached',
        `The account has ${limit} endpoints, the most it may have. Delete one that is not needed.`,
      );
    }
    await requireRoomForFilter({ database }, accountId, filter);
    return endpoints.create(accountId, input, origin, scheme);
  });
  if (endpoint.status !== 'pending') return endpoint;
  try {
    await endpointWorkflows.verify({
      account_id: accountId,
      endpoint_id: endpoint.id,
      host: hostOf(endpoint.target_url),
    });
    return endpoint;
  } catch (error) {
    // It would never be verified, and the answer says that nothing was accepted.
    await endpoints.delete(accountId, endpoint.id, origin);
    throw error;
  }
}
