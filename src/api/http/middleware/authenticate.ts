import { Problem } from '../../../domain/http/problem.js';
import { ACCOUNT_HEADER, actingCaller } from '../caller/acting-account.js';
import { CHALLENGE, refuseToken } from '../caller/refusals.js';
import { checkToken, hasTokenForm } from '../caller/token-check.js';
import type { ApiDependencies, Context, Middleware } from '../context.js';

/**
 * Identifies the caller by the token in `Authorization: Bearer` or in the query parameter `access_token`.
 *
 * @throws Problem 401, or 400 if a token is sent both ways (RFC 6750, section 2)
 */
export function authenticate(dependencies: ApiDependencies): Middleware {
  return async (ctx, next) => {
    const holder = await checkToken(dependencies, readToken(ctx));
    const reads = ctx.method === 'GET' || ctx.method === 'HEAD';
    const acting = await actingCaller(dependencies.database, holder, ctx.get(ACCOUNT_HEADER), reads);
    Object.assign(ctx.state, acting);
    await next();
  };
}

/** Form of `Authorization`. */
const BEARER = /^Bearer +(\S+) *$/i;

/** Whether a request bears what has the form of a token: only the database knows whether it is one. */
export function bearsToken(ctx: Context): boolean {
  const token = BEARER.exec(ctx.get('authorization'))?.[1] ?? ctx.query['access_token'];
  return typeof token === 'string' && hasTokenForm(token);
}

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
  const token = header ? BEARER.exec(header)?.[1] : query;
  if (header && !token) {
    throw refuseToken('malformed_token', 'The Authorization header must be Bearer, a space, and the token.');
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
