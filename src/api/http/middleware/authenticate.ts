import type { Account } from '../../../domain/access/account.js';
import { Problem } from '../../../domain/http/problem.js';
import type { Caller } from '../caller/caller.js';
import { CHALLENGE, refuseToken } from '../caller/refusals.js';
import type { TokenCheck } from '../caller/token-check.js';
import type { Context, Middleware } from '../context.js';

/**
 * Identifies the caller by the token in `Authorization: Bearer` or in the query parameter `access_token`.
 *
 * @throws Problem 401, or 400 if a token is sent both ways (RFC 6750, section 2)
 */
export function authenticate(check: TokenCheck, act: ActingAccount): Middleware {
  return async (ctx, next) => {
    const result = await check(readToken(ctx));
    if ('refusal' in result) throw refuseToken(result.refusal);
    const { caller, account } = await act(ctx, result.caller);
    ctx.state.caller = caller;
    ctx.state.account = account;
    await next();
  };
}

/** Finds the account that a caller acts for. @throws Problem */
type ActingAccount = (
  ctx: Context,
  caller: Caller,
) => Promise<{ caller: Caller; account: Account | undefined }>;

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
    throw refuseToken({
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
