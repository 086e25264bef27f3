import type { Filter } from '../../../../packages/payload-contract/src/filter/index.js';
import { FILTER_BOUNDS } from '../../../../packages/payload-contract/src/filter/index.js';
import { isId } from '../../../domain/basics/ids.js';
import { type Origin, resourceName } from '../../../domain/change/change.js';
import { notFound, Problem } from '../../../domain/http/problem.js';
import { namedEndpoint } from '../../../domain/ledger/summaries.js';
import { MAX_INBOXES } from '../../../domain/listener/inbox.js';
import { sharedDate } from '../../../domain/time/shared-time.js';
import type {
  EndpointInput,
  EndpointWithSecrets,
  StoredEndpoint,
} from '../../../models/endpoint/endpoint-document.js';
import type { EndpointRepository } from '../../../models/endpoint/endpoints.js';
import { requireActive } from '../../http/caller/acting-account.js';
import type { ApiDependencies, Context } from '../../http/context.js';
import { found, oneAfterAnother } from '../../http/found.js';
import { originOf } from '../../http/origin.js';

/**
 * How often an endpoint may change between reading and writing it before the caller gets `409`. Owners change it one
 * after another: what comes in between are incidents and verifications.
 */
const MAX_CONFLICTS = 5;

type WriteDependencies = Pick<ApiDependencies, 'database' | 'starter' | 'endpointWorkflows'>;

/**
 * Registers an endpoint or a listener, and starts its verification if it needs one.
 *
 * @param secret what signs its deliveries, by default a new one
 * @throws Problem 409 if the account has as many endpoints as it may have, or its filters have no room for this one, or
 * it is being deleted by the time that it is this request's turn
 */
export async function createEndpoint(
  { settings, database, endpointWorkflows }: ApiDependencies,
  accountId: string,
  input: Parameters<EndpointRepository['create']>[1],
  origin: Origin,
  secret?: string,
): Promise<StoredEndpoint> {
  const { endpoints } = database;
  const { filter } = 'listener' in input ? input.listener : input;
  const endpoint = await database.accountLocks.hold(accountId, 'endpoints', async () => {
    const account = await database.accounts.current(accountId);
    if (account) requireActive(account);
    const limit = account?.limits.max_endpoints ?? settings.HOOKLINE_MAX_ENDPOINTS;
    if ((await endpoints.count(accountId)) >= limit) {
      throw new Problem(
        'endpoint_limit_reached',
        `The account has ${limit} endpoints, the most it may have. Delete one that is not needed.`,
      );
    }
    if ('isInbox' in input && input.isInbox) await requireRoomForInbox(endpoints, accountId);
    if (filter) await requireRoomForFilter(endpoints, accountId, filter);
    return endpoints.create(accountId, input, origin, secret);
  });
  if (endpoint.status !== 'pending') return endpoint;
  try {
    await endpointWorkflows.verify(namedEndpoint(endpoint));
    return endpoint;
  } catch (error) {
    // It would never be verified, and the response says that nothing was accepted.
    await endpoints.delete(accountId, endpoint.id, origin);
    throw error;
  }
}

/**
 * Changes an endpoint of the caller's account, and starts what follows from the change: a verification, or the release
 * of its parked deliveries.
 *
 * @param decide what the owner wants it to be, from what it is; called again if it has changed in between
 * @param resumes whether the owner asks for the endpoint to be active. Then its deliveries are released though it is
 * active already: an earlier request may have changed it, and have been cut off before the release
 * @throws Problem 404 if the account has no such endpoint, 409 if it keeps changing, or the account's filters
 * become too long
 */
export async function changeEndpoint(
  dependencies: WriteDependencies,
  ctx: Context,
  id: string,
  decide: (before: EndpointWithSecrets) => EndpointInput,
  resumes = false,
): Promise<StoredEndpoint> {
  const { database } = dependencies;
  const { accountLocks, endpoints } = database;
  const { account_id } = ctx.state.caller;
  const [before, after] = await oneAfterAnother(database, account_id, 'endpoint', id, async () => {
    for (let conflicts = 0; conflicts < MAX_CONFLICTS; conflicts += 1) {
      const before = await found('endpoint', id, () => endpoints.getFresh(account_id, id));
      const input = decide({ ...before, secrets: endpoints.secretsOf(before) });
      const replace = () => endpoints.replace(before, input, originOf(ctx));
      const { filter } = input;
      const after =
        filter && sizeOf(filter) > sizeOf(before.filter)
          ? await accountLocks.hold(account_id, 'endpoints', async () => {
              await requireRoomForFilter(endpoints, account_id, filter, id);
              return replace();
            })
          : await replace();
      if (after) return [before, after] as const;
    }
    throw new Problem('endpoint_state_conflict', 'The endpoint was changed at the same time. Send it again.');
  });
  await followUp(dependencies, before, after, resumes);
  return after;
}

async function followUp(
  { starter, endpointWorkflows }: WriteDependencies,
  before: StoredEndpoint,
  after: StoredEndpoint,
  resumes: boolean,
): Promise<void> {
  const key = namedEndpoint(after);
  const { status, version, verification_revision, target_url } = after;
  if (status === 'pending' && verification_revision === version) await endpointWorkflows.verify(key);
  const goesOn = resumes || before.status !== 'active' || before.target_url !== target_url;
  if (status === 'active' && goesOn) await starter.release(key);
}

/**
 * Deletes an endpoint of an account, and has what waits for it end. An endpoint that was deleted before is not found;
 * what waits for it ends all the same, because the request that deleted it may have been cut off before that.
 *
 * @throws Problem 404 if the account has no such endpoint
 */
export async function deleteEndpoint(
  { database: { changes, endpoints, inboxes, listeners }, starter }: WriteDependencies,
  account_id: string,
  id: string,
  origin: Origin,
): Promise<void> {
  if (!isId('endpoint', id)) throw notFound('endpoint', id);
  const endpoint = await endpoints.get(account_id, id);
  const isDeleted = endpoint !== undefined && (await endpoints.delete(account_id, id, origin));
  if (isDeleted && endpoint.inbox) await inboxes.remove(account_id, id);
  if (isDeleted && endpoint.listener) await listeners.remove(id);
  const isKnown =
    isDeleted || (await changes.stateAt(account_id, resourceName('endpoint', id), sharedDate())).known;
  if (isKnown)
    await starter.release({ account_id, endpoint_id: id, ...(endpoint && namedEndpoint(endpoint)) });
  if (!isDeleted) throw notFound('endpoint', id);
}

/** @throws Problem 409 if the account has as many test inboxes as it may have */
async function requireRoomForInbox(endpoints: EndpointRepository, accountId: string): Promise<void> {
  if ((await endpoints.count(accountId, { inbox: true })) < MAX_INBOXES) return;
  throw new Problem(
    'endpoint_limit_reached',
    `The account has ${MAX_INBOXES} test inboxes, the most it may have. Delete one, or wait until it ends.`,
  );
}

/**
 * Each event is compared with the filters of all endpoints of its account, so all of them together are bounded. Called
 * under the account's lock of endpoints, which is held until the filter is written.
 *
 * @param filter what an endpoint is to have
 * @param id of the endpoint; absent at registration
 * @throws Problem 409 if the account's filters would be longer together than they may be
 */
async function requireRoomForFilter(
  endpoints: EndpointRepository,
  accountId: string,
  filter: Filter,
  id?: string,
): Promise<void> {
  const others = await endpoints.filtersSize(accountId, id);
  if (others + sizeOf(filter) <= FILTER_BOUNDS.sizeOfAll) return;
  throw new Problem(
    'filter_limit_reached',
    `The filters of all endpoints of the account would come to more than ${FILTER_BOUNDS.sizeOfAll} characters of JSON: ` +
      `this one has ${sizeOf(filter)}, the others ${others}. Shorten a filter, or filter in the receiver.`,
  );
}

function sizeOf(filter: Filter | undefined): number {
  return filter ? JSON.stringify(filter).length : 0;
}
