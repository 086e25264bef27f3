import { isId } from '../../../domain/basics/ids.js';
import { resourceName } from '../../../domain/change/change.js';
import { notFound, Problem } from '../../../domain/http/problem.js';
import type { ApiDependencies } from '../../http/context.js';
import { renderEndpoint } from './endpoint-view.js';

/**
 * An endpoint of an account as it was at a time, also if it has been deleted since.
 *
 * @throws Problem 404 if the account had no such endpoint then, or the changes of that time are not kept any more
 */
export async function endpointAt(
  { database: { changes, endpoints } }: Pick<ApiDependencies, 'database'>,
  accountId: string,
  id: string,
  time: Date,
): Promise<unknown> {
  if (!isId('endpoint', id)) throw notFound('endpoint', id);
  const past = await changes.stateAt(accountId, resourceName('endpoint', id), time);
  if (past.known && past.state) return past.state;
  if (past.known)
    throw new Problem('not_found', `The endpoint ${id} did not exist at ${time.toISOString()}.`);
  if (past.since) throw notKept(id, past.since.toISOString());
  const endpoint = await endpoints.getFresh(accountId, id);
  if (!endpoint) throw notFound('endpoint', id);
  if (Date.parse(endpoint.updated_at) > time.getTime()) throw notKept(id, endpoint.updated_at);
  return renderEndpoint(endpoint);
}

function notKept(id: string, since: string): Problem {
  return new Problem('not_found', `What the endpoint ${id} was before ${since} is not kept any more.`);
}
