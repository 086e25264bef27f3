import type { Scope } from '../../../domain/access/api-key.js';
import { type EndedLink, Problem } from '../../../domain/http/problem.js';
import type { ProblemCode } from '../../../domain/http/problems.js';
import type { Context } from '../context.js';

/** Beginning of every refusal of a token or its scopes (RFC 6750, section 3). */
export const CHALLENGE = 'Bearer realm="hookline"';

/** @param scope or several, one of which is enough @throws Problem 403 if the caller does not hold it, naming it */
export function requireScope(ctx: Context, scope: Scope | readonly Scope[]): void {
  const enough = [scope].flat();
  const [first] = enough;
  if (first && !enough.some((one) => ctx.state.caller.scopes.includes(one))) throw missingScope(first);
}

/** @throws Problem 403 if the caller has a portal session */
export function refusePortal(ctx: Context): void {
  if (ctx.state.caller.type !== 'portal_session') return;
  throw new Problem('portal_refused', 'A portal session may not do this. Ask who gave you the link.', {
    headers: { 'www-authenticate': `${CHALLENGE}, error="insufficient_scope"` },
  });
}

/** @throws Problem 403 if the caller's role at the desk may only read */
export function refuseReader(ctx: Context): void {
  if (ctx.state.caller.person?.role !== 'read') return;
  throw new Problem(
    'read_only',
    'Your role at the desk may only read. Ask whoever manages your organisation’s sign-in for a role that may act.',
    { headers: { 'www-authenticate': `${CHALLENGE}, error="insufficient_scope"` } },
  );
}

/** The refusal of a caller whose token lacks a scope. */
export function missingScope(scope: Scope): Problem {
  return new Problem(
    'missing_scope',
    `This request needs the scope ${scope}, which the token does not have.`,
    {
      headers: { 'www-authenticate': `${CHALLENGE}, error="insufficient_scope", scope="${scope}"` },
    },
  );
}

/** The refusal of a token: RFC 6750, section 3. @param portal of a link to the portal that has ended */
export function refuseToken(
  code: Extract<ProblemCode, 'malformed_token' | 'invalid_token' | 'expired_token' | 'revoked_token'>,
  detail: string,
  portal?: EndedLink,
): Problem {
  return new Problem(code, detail, {
    headers: { 'www-authenticate': `${CHALLENGE}, error="invalid_token", error_description="${detail}"` },
    ...(portal && { portal }),
  });
}

/**
 * A caller may grant only scopes that it holds itself.
 *
 * @throws Problem 403 naming the first scope that it does not hold
 */
export function requireHeld(ctx: Context, scopes: readonly Scope[]): void {
  const absent = scopes.find((scope) => !ctx.state.caller.scopes.includes(scope));
  if (absent) throw missingScope(absent);
}

/**
 * Ending access takes what giving it takes: or a key that can do little could take away what all others live on. A key
 * may end itself. A platform or operator that acts for an account may delete it, and so end all of its access.
 *
 * @param accountId of what ends; the caller's own unless said otherwise
 * @throws Problem 403 naming the first scope that it does not hold
 */
export function requireMayEnd(
  ctx: Context,
  scopes: readonly Scope[],
  accountId = ctx.state.caller.account_id,
): void {
  const { account_id, home_account_id, scopes: held } = ctx.state.caller;
  const isAbove = home_account_id !== undefined || accountId !== account_id || held.includes('admin');
  if (!isAbove) requireHeld(ctx, scopes);
}

/** Only who may read all profiles can let others read one that is not the caller's own. @throws Problem 403 */
export function requireProfileHeld(ctx: Context, profileId: string, scopes: readonly Scope[]): void {
  if (scopes.includes('profile:read') && profileId !== ctx.state.caller.profile_id) {
    requireHeld(ctx, ['profiles:read']);
  }
}

/** Nothing that stays until somebody deletes it is made with a key that expires. @throws Problem 403 */
export function requireLasting(ctx: Context): void {
  const { expires_at } = ctx.state.caller;
  if (expires_at === undefined) return;
  throw new Problem(
    'expiring_key',
    `This token expires at ${expires_at}, and what it makes here would not. Use an API key without an expiry.`,
  );
}
