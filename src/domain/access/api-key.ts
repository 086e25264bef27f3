import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/** What a caller may do. A key or token holds some of them; `admin` is the operator's. */
export const SCOPES = [
  'events:write',
  'deliveries:read',
  'deliveries:write',
  'endpoints:read',
  'endpoints:write',
  'profile:read',
  'profiles:read',
  'profiles:write',
  'keys:read',
  'keys:write',
  'secrets:read',
  'changes:read',
  'admin',
] as const;

export type Scope = (typeof SCOPES)[number];

/** Whether a text names a scope. */
export function isScope(text: string): text is Scope {
  return (SCOPES as readonly string[]).includes(text);
}

/** Everything an account's own key can do: all scopes but the operator's. */
export const ACCOUNT_SCOPES: readonly Scope[] = SCOPES.filter((scope) => scope !== 'admin');

/** How every API key begins. */
export const API_KEY_PREFIX = 'hlk_';
const CHECKSUM_LENGTH = 6;

/**
 * A new API key: `hlk_`, 43 characters of 32 random bytes, and six of a checksum. Prefix and checksum let a scanner tell a leaked
 * key from a chance likeness, and the API refuse a mistyped one without a look-up.
 */
export function newApiKey(): string {
  const random = randomBytes(32).toString('base64url');
  return API_KEY_PREFIX + random + checksum(random);
}

/** Whether a text has the form of an API key, checksum included. It says nothing of whether the key exists. */
export function looksLikeApiKey(text: string): boolean {
  const match = /^hlk_([\w-]{43})([\w-]{6})$/.exec(text);
  if (!match) return false;
  const [, random = '', given = ''] = match;
  return timingSafeEqual(Buffer.from(checksum(random)), Buffer.from(given));
}

function checksum(random: string): string {
  return createHash('sha256')
    .update(API_KEY_PREFIX + random)
    .digest('base64url')
    .slice(0, CHECKSUM_LENGTH);
}
