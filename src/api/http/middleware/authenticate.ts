import type { Scope } from '../../../domain/access/api-key.js';
import { Problem } from '../../../domain/http/problem.js';
import type { Context, Middleware } from '../context.js';
import type { Refusal, TokenCheck } from '../token-check.js';

/**
 * Identifies the caller by the token in `Authorization: Bearer` or in the query parameter `access_token`.
 *
 * @throws Problem 401, or 400 if a token is sent both ways (RFC 6750, section 2)
 */
export function authenticate(check: TokenCheck): Middleware {
  return async (ctx, next) => {
    const result = await check(readToken(ctx));
    if ('refusal' in result) throw refuse(result.refusal);
    ctx.state.caller = result.caller;
    await next();
  };
}

/** @throws Problem 403 if the caller does not hold the scope, naming it */
export function requireScope(ctx: Context, scope: Scope): void {
  if (!ctx.state.caller.scopes.includes(scope)) throw missingScope(scope);
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

const CHALLENGE = 'Bearer realm="hookline"';

function readToken(ctx: Context): string {
  const header = ctx.get('authorization');
  const query = ctx.query['access_token'];
  if ((header && query !== undefined) || Array.isArray(query)) {
    throw new Problem(
      'ambiguous_token',
      'Send the token once: either in the Authorization header or as the parameter access_token.',
      { headers: { 'www-authenticate': `${CHALLENGE}, error="invalid_request"` } },
    );
  }
  const token = header ? /^Bearer +(\S+) *$/i.exec(header)?.[1] : query;
  if (header && !token) {
    throw refuse({
      code: 'malformed_token',
      detail: 'The Authorization header must be Bearer, a space, and the token.',
    });
  }
  if (!token) {
    throw new Problem(
      'missing_token',
      'Send an access token or an API key as Authorization: Bearer …, or as the query parameter access_token.',
      { headers: { 'www-authenticate': CHALLENGE } },
    );
  }
  return token;
}

/** RFC 6750, section 3. */
function refuse({ code, detail }: Refusal): Problem {
  return new Problem(code, detail, {
    headers: { 'www-authenticate': `${CHALLENGE}, error="invalid_token", error_description="${detail}"` },
  });
}
