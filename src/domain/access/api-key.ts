import { TokenKind } from './checked-token.js';

/**
 * Permissions of a caller. A key or token holds some of them. `platform` is to manage a platform's accounts and to act
 * for them; `admin` is the operator's.
 */
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
  'subjects:write',
  'platform',
  'admin',
] as const;

export type Scope = (typeof SCOPES)[number];

/** Whether a text names a scope. */
export function isScope(text: string): text is Scope {
  return (SCOPES as readonly string[]).includes(text);
}

/** Everything an account's own key can do. */
export const ACCOUNT_SCOPES: readonly Scope[] = SCOPES.filter(
  (scope) => scope !== 'platform' && scope !== 'admin',
);

/** Everything a platform's key can do. */
export const PLATFORM_SCOPES: readonly Scope[] = [...ACCOUNT_SCOPES, 'platform'];

/**
 * Everything the operator's key can do. Without `platform`, as its own account is what it acts for unless it names
 * another.
 */
export const OPERATOR_SCOPES: readonly Scope[] = [...ACCOUNT_SCOPES, 'admin'];

export const API_KEY = new TokenKind('hlk_');
