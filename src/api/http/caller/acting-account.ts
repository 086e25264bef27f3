import { type Account, REFERENCE } from '../../../domain/access/account.js';
import { ownProfileId } from '../../../domain/access/profile.js';
import { isId } from '../../../domain/basics/ids.js';
import { notFound, Problem } from '../../../domain/http/problem.js';
import type { ApiDependencies, Context } from '../context.js';
import { invalidRequest } from '../validation.js';
import type { Caller } from './caller.js';
import { missingScope, refuseToken } from './refusals.js';

/** The header that names the account to act for. */
export const ACCOUNT_HEADER = 'Hookline-Account';

/**
 * The caller as the account that it acts for: its own, or the one that `Hookline-Account` names by id or reference. A
 * platform acts for its accounts, the operator for all.
 *
 * @param named what the header says; '' if it is not there
 * @param reads whether nothing is to be changed
 * @throws Problem 401 if the token's account was deleted, 403 if the token acts for its own account alone, 404 if there
 * is no such account or it is another platform's, 409 if something is to be changed of an account that is being deleted
 * or was
 */
export async function actingCaller(
  { accounts }: ApiDependencies['database'],
  caller: Caller,
  named: string,
  reads: boolean,
): Promise<{ caller: Caller; account: Account | undefined }> {
  const home = await accounts.current(caller.account_id);
  if (home && home.status !== 'active')
    throw refuseToken('revoked_token', `The account ${home.id} was deleted.`);
  if (named === '' || named === caller.account_id)
    return { caller: { ...caller, names_account: named !== '' }, account: home };
  const isOperator = caller.scopes.includes('admin');
  if (!isOperator && !caller.scopes.includes('platform')) throw missingScope('platform');
  const account = await findNamed(accounts, caller, named);
  if (!account || !(isOperator || account.platform_id === caller.account_id))
    throw notFound('account', named);
  if (!reads) requireActive(account);
  return {
    account,
    caller: {
      ...caller,
      account_id: account.id,
      home_account_id: caller.account_id,
      names_account: true,
      profile_id: ownProfileId(account.id),
      // The scopes for accounts are not passed on.
      scopes: caller.scopes.filter((scope) => scope !== 'platform' && scope !== 'admin'),
    },
  };
}

/** @throws Problem 409 if an account is being deleted, or was */
export function requireActive({ id, status }: Account): void {
  if (status !== 'active')
    throw new Problem('account_state_conflict', `The account ${id} is ${status}: it can only be read.`);
}

function findNamed(
  accounts: ApiDependencies['database']['accounts'],
  caller: Caller,
  named: string,
): Promise<Account | undefined> {
  if (isId('account', named)) return accounts.current(named);
  if (!REFERENCE.test(named))
    throw invalidRequest([
      { parameter: ACCOUNT_HEADER, detail: 'must be the id of an account, acct_…, or its reference' },
    ]);
  return accountOfReference(accounts, caller, named);
}

/** The account that a platform, or the operator, calls so; `undefined` if there is none. */
export async function accountOfReference(
  accounts: ApiDependencies['database']['accounts'],
  { account_id, scopes }: Caller,
  reference: string,
): Promise<Account | undefined> {
  const isPlatform = scopes.includes('platform');
  if (!REFERENCE.test(reference) || !(isPlatform || scopes.includes('admin'))) return undefined;
  return accounts.ofReference(isPlatform ? account_id : undefined, reference);
}

/**
 * A platform says for which account it acts, so that nothing gets into the wrong one by mistake.
 *
 * @throws Problem 400
 */
export function requireAccountNamed(ctx: Context): void {
  const { scopes, names_account } = ctx.state.caller;
  if (names_account || !scopes.includes('platform')) return;
  throw new Problem(
    'account_not_named',
    `This token acts for the accounts of a platform. Say for which one with the header ${ACCOUNT_HEADER}: its id, acct_…, or your reference; the platform's own id for the platform itself.`,
    { errors: [{ parameter: ACCOUNT_HEADER, detail: 'is missing' }] },
  );
}
