import { looksLikeApiKey, type Scope } from '../../domain/api-key.js';
import { Problem, type ProblemCode } from '../../domain/problem.js';
import type { ApiKeyRepository } from '../../models/api-keys.js';
import type { Context, Middleware } from '../context.js';

/**
 * Finds out who calls, by the API key in `Authorization: Bearer` or in the query parameter `access_token`.
 *
 * @throws Problem 401, or 400 where a token is sent both ways (RFC 6750, section 2)
 */
export function authenticate(apiKeys: ApiKeyRepository): Middleware {
  return async (ctx, next) => {
    const token = readToken(ctx);
    if (!looksLikeApiKey(token))
      throw refusal('invalid_token', 'The token is not one of ours, or was cut short.');
    const apiKey = await apiKeys.find(token);
    if (!apiKey) throw refusal('invalid_token', 'There is no such API key.');
    ctx.state.caller = apiKey;
    await next();
  };
}

/** Lets a caller pass who holds the scope. @throws Problem 403 naming it */
export function requireScope(scope: Scope): Middleware {
  return async (ctx, next) => {
    if (!ctx.state.caller.scopes.includes(scope)) {
      throw new Problem('missing_scope', `This needs the scope ${scope}, which the token does not have.`, {
        headers: {
          'www-authenticate': `Bearer realm="hookline", error="insufficient_scope", scope="${scope}"`,
        },
      });
    }
    await next();
  };
}

function readToken(ctx: Context): string {
  const header = ctx.get('authorization');
  const query = ctx.query['access_token'];
  if ((header && query !== undefined) || Array.isArray(query)) {
    throw new Problem(
      'ambiguous_token',
      'Send the token once: as Authorization: Bearer, or as access_token.',
      {
        headers: { 'www-authenticate': 'Bearer realm="hookline", error="invalid_request"' },
      },
    );
  }
  const token = header ? /^Bearer +(\S+) *$/i.exec(header)?.[1] : query;
  if (header && !token)
    throw refusal('invalid_token', 'The Authorization header must read: Bearer, a space, the token.');
  if (!token) {
    throw new Problem(
      'missing_token',
      'Send an API key as Authorization: Bearer …, or as the query parameter access_token.',
      {
        headers: { 'www-authenticate': 'Bearer realm="hookline"' },
      },
    );
  }
  return token;
}

/** RFC 6750, section 3. */
function refusal(code: ProblemCode, detail: string): Problem {
  return new Problem(code, detail, {
    headers: {
      'www-authenticate': `Bearer realm="hookline", error="invalid_token", error_description="${detail}"`,
    },
  });
}
