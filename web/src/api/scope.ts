/** Form of the id of an account, which an address may name. */
const ACCOUNT_ID = /^acct_\w+$/;

/** The account that an address names; `undefined` if it names none. */
export function accountIn(search: Record<string, unknown>): string | undefined {
  const { account } = search;
  return typeof account === 'string' && ACCOUNT_ID.test(account) ? account : undefined;
}

let acting: string | undefined;

/**
 * The account that requests act for (`Hookline-Account`): a platform's or an operator's choice, which the address of
 * the page names.
 */
export const actingAccount = () => acting;

/** Requests act for this account from now on. @param account absent: for the token's own */
export function actFor(account: string | undefined): void {
  acting = account;
}
