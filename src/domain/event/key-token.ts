/**
 * The first characters of a business key's token. Ids of accounts, which share a search attribute with tokens, begin
 * otherwise.
 */
export const KEY_TOKEN_PREFIX = 'k:';

/** Whether a value is the token of a business key. */
export function isKeyToken(value: string): boolean {
  return value.startsWith(KEY_TOKEN_PREFIX);
}
