import { FILTER_BOUNDS } from '../../../domain/filter/filter-bounds.js';
import type { Filter } from '../../../domain/filter/match-filter.js';
import { Problem } from '../../../domain/http/problem.js';
import type { StoredEndpoint } from '../../../models/endpoint/endpoint-document.js';
import type { ApiDependencies } from '../../http/context.js';

/**
 * Each event is compared with the filters of all endpoints of its account, so all of them together are bounded. A filter that becomes no longer is
 * not refused, so that an endpoint from before the bound can still be changed.
 *
 * Called under the account's lock of endpoints, which is held until the filter is written: see {@link needsRoomForFilter}.
 *
 * @param filter what an endpoint is to have
 * @param before the endpoint as it is; absent at registration
 * @throws Problem 409 if the account's filters would be longer together than they may be
 */
export async function requireRoomForFilter(
  { database: { endpoints } }: Pick<ApiDependencies, 'database'>,
  accountId: string,
  filter: Filter | undefined,
  before?: StoredEndpoint,
): Promise<void> {
  if (!needsRoomForFilter(filter, before)) return;
  const others = await endpoints.filtersSize(accountId, before?.id);
  if (others + sizeOf(filter) <= FILTER_BOUNDS.sizeOfAll) return;
  throw new Problem(
    'filter_limit_reached',
    `The filters of all endpoints of the account would come to more than ${FILTER_BOUNDS.sizeOfAll} characters of JSON: ` +
      `this one has ${sizeOf(filter)}, the others ${others}. Shorten a filter, or filter in the receiver.`,
  );
}

/** Whether an endpoint is to have a longer filter than before. */
export function needsRoomForFilter(filter: Filter | undefined, before?: StoredEndpoint): boolean {
  return sizeOf(filter) > sizeOf(before?.filter);
}

function sizeOf(filter: Filter | undefined): number {
  return filter ? JSON.stringify(filter).length : 0;
}
