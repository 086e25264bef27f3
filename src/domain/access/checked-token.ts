import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

const CHECKSUM_LENGTH = 6;

/**
 * A new token: its prefix, 43 characters of 32 random bytes, and six of a checksum. Prefix and checksum let a scanner tell a leaked token
 * from a chance likeness, and the API refuse a mistyped one without a look-up.
 */
export function newCheckedToken(prefix: string): string {
  const random = randomBytes(32).toString('base64url');
  return prefix + random + checksum(prefix, random);
}

/** Whether a text is a well-formed token with that prefix and a right checksum. It does not say whether the token exists. */
export function isCheckedToken(prefix: string, text: string): boolean {
  if (!text.startsWith(prefix)) return false;
  const match = /^([\w-]{43})([\w-]{6})$/.exec(text.slice(prefix.length));
  if (!match) return false;
  const [, random = '', given = ''] = match;
  return timingSafeEqual(Buffer.from(checksum(prefix, random)), Buffer.from(given));
}

function checksum(prefix: string, random: string): string {
  return createHash('sha256')
    .update(prefix + random)
    .digest('base64url')
    .slice(0, CHECKSUM_LENGTH);
}
