import type { Account } from '../../../domain/access/account.js';
import { isId } from '../../../domain/basics/ids.js';
import { notFound, Problem } from '../../../domain/http/problem.js';
import type { ApiDependencies, Context } from '../../http/context.js';

/** An account that the caller may see: its own, its platform's, or any for the operator. @throws Problem 404 */
export async function findAccount(
  { database }: Pick<ApiDependencies, 'database'>,
  ctx: Context,
  id: string,
): Promise<Account> {
  const { account_id, scopes } = ctx.state.caller;
  const account = isId('account', id) ? await database.accounts.get(id) : undefined;
  const isOwn = account?.id === account_id;
  const isOfPlatform = account?.platform_id === account_id && scopes.includes('platform');
  if (!account || !(isOwn || isOfPlatform || scopes.includes('admin'))) throw notFound('account', id);
  return account;
}

/** As {@link findAccount}, for what can be done only while the account is active. @throws Problem 404, 409 */
export async function findActiveAccount(
  dependencies: Pick<ApiDependencies, 'database'>,
  ctx: Context,
  id: string,
): Promise<Account> {
  const account = await findAccount(dependencies, ctx, id);
  if (account.status === 'active') return account;
  throw new Problem('account_state_conflict', `The account ${id} is ${account.status}: it can only be read.`);
}
