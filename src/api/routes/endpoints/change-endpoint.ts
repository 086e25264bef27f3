import { isId } from '../../../domain/basics/ids.js';
import { notFound, Problem } from '../../../domain/http/problem.js';
import { hostOf } from '../../../domain/ledger/summaries.js';
import type {
  EndpointInput,
  EndpointWithSecrets,
  StoredEndpoint,
} from '../../../models/endpoint/endpoint-document.js';
import type { ApiDependencies, Context } from '../../http/context.js';
import { originOf } from '../../http/origin.js';
import { needsRoomForFilter, requireRoomForFilter } from './check-filters.js';

/** How often an endpoint may change between reading and writing it before the caller gets `409`. */
const MAX_CONFLICTS = 5;

type Dependencies = Pick<ApiDependencies, 'database' | 'starter' | 'endpointWorkflows'>;

/**
 * Changes an endpoint of the caller's account, and starts what follows from the change: a verification, or the release of its parked
 * deliveries.
 *
 * @param decide what the owner wants it to be, from what it is; called again if somebody else changed it in between
 * @param resumes whether the owner asks for the endpoint to be active. Then its deliveries are released though it is active already: an
 *   earlier request may have changed it, and have been cut off before the release
 * @throws Problem 404 if the account has no such endpoint, 409 if others keep changing it, or the account's filters become too long
 */
export async function changeEndpoint(
  dependencies: Dependencies,
  ctx: Context,
  id: string,
  decide: (before: EndpointWithSecrets) => EndpointInput,
  resumes = false,
): Promise<StoredEndpoint> {
  const { accountLocks, endpoints } = dependencies.database;
  const { account_id } = ctx.state.caller;
  for (let conflicts = 0; conflicts < MAX_CONFLICTS; conflicts += 1) {
    const before = isId('endpoint', id) ? await endpoints.getFresh(account_id, id) : undefined;
    if (!before) throw notFound('endpoint', id);
    const input = decide({ ...before, secrets: endpoints.secretsOf(before) });
    const replace = () => endpoints.replace(before, input, originOf(ctx));
    const endpoint = needsRoomForFilter(input.filter, before)
      ? await accountLocks.hold(account_id, 'endpoints', async () => {
          await requireRoomForFilter(dependencies, account_id, input.filter, before);
          return replace();
        })
      : await replace();
    if (!endpoint) continue;
    await followUp(dependencies, before, endpoint, resumes);
    return endpoint;
  }
  throw new Problem('endpoint_state_conflict', 'The endpoint was changed at the same time. Send it again.');
}

async function followUp(
  { starter, endpointWorkflows }: Dependencies,
  before: StoredEndpoint,
  { account_id, id: endpoint_id, status, version, verification_revision, target_url }: StoredEndpoint,
  resumes: boolean,
): Promise<void> {
  const key = { account_id, endpoint_id, host: hostOf(target_url) };
  if (status === 'pending' && verification_revision === version) await endpointWorkflows.verify(key);
  const goesOn = resumes || before.status !== 'active' || before.target_url !== target_url;
  if (status === 'active' && goesOn) await starter.release(key);
}
