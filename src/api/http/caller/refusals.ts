import type { Scope } from '../../../domain/access/api-key.js';
import { Problem } from '../../../domain/http/problem.js';
import type { Context } from '../context.js';
import type { Refusal } from './token-check.js';

/** What every refusal of a token or its scopes begins with (RFC 6750, section 3). */
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

/** The refusal of a token: RFC 6750, section 3. */
export function refuseToken({ code, detail }: Refusal): Problem {
  return new Problem(code, detail, {
    headers: { 'www-authenticate': `${CHALLENGE}, error="invalid_token", error_description="${detail}"` },
  });
}
