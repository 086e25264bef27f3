/** The first characters of a business key's token. */
export const KEY_TOKEN_PREFIX = 'k:';
