import { type IdKind, isId } from '../../domain/basics/ids.js';
import { notFound } from '../../domain/http/problem.js';
import type { ApiDependencies } from './context.js';

/** Names for people of resources that have ids, where their kind says it otherwise. */
const NAMES: Partial<Record<IdKind, string>> = {
  api_key: 'API key',
  desk_session: 'desk session',
  oauth_client: 'OAuth client',
  portal_session: 'portal session',
  scheduled_event: 'scheduled event',
};

/** The resource of an id. @param get called if it has the form of its kind @throws Problem 404 if there is nothing */
export async function found<T>(kind: IdKind, id: string, get: () => Promise<T | undefined>): Promise<T> {
  const there = isId(kind, id) ? await get() : undefined;
  if (there === undefined) throw notFound(NAMES[kind] ?? kind, id);
  return there;
}

/**
 * Has the changes that people make to a resource at the same time done one after another, in all processes: each is
 * made of what the one before has left.
 *
 * @param accountId whose resource it is
 * @throws Problem 404 for what has not the form of an id of its kind
 */
export async function oneAfterAnother<T>(
  { accountLocks }: Pick<ApiDependencies['database'], 'accountLocks'>,
  accountId: string,
  kind: IdKind,
  id: string,
  change: () => Promise<T>,
): Promise<T> {
  if (!isId(kind, id)) throw notFound(NAMES[kind] ?? kind, id);
  return accountLocks.hold(accountId, `${kind}:${id}`, change);
}
