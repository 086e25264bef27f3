import { API_KEY_PREFIX, isScope, looksLikeApiKey } from '../../domain/access/api-key.js';
import { ownProfileId } from '../../domain/access/profile.js';
import type { ProblemCode } from '../../domain/http/problem.js';
import type { ApiDependencies, Caller } from './context.js';

/** Why a token is refused. */
export interface Refusal {
  code: Extract<ProblemCode, 'malformed_token' | 'invalid_token' | 'expired_token' | 'revoked_token'>;
  detail: string;
}

/** Finds the caller that a token belongs to. */
export type TokenCheck = (token: string) => Promise<{ caller: Caller } | { refusal: Refusal }>;

/** What an OAuth access token looks like. */
const ACCESS_TOKEN = /^[\w-]{43}$/;

/** Checks API keys and OAuth access tokens. Look-ups are cached for seconds; expiry is exact. */
export function createTokenCheck(dependencies: Pick<ApiDependencies, 'database' | 'logger'>): TokenCheck {
  return async (token) => {
    if (token.startsWith(API_KEY_PREFIX)) return checkApiKey(dependencies, token);
    if (ACCESS_TOKEN.test(token)) return checkAccessToken(dependencies, token);
    return malformed();
  };
}

async function checkApiKey(
  { database, logger }: Pick<ApiDependencies, 'database' | 'logger'>,
  token: string,
): ReturnType<TokenCheck> {
  const key = await database.apiKeys.find(token);
  if (!key && !looksLikeApiKey(token)) return malformed();
  if (!key) return refuse('invalid_token', 'The API key is unknown.');
  if (key.revoked_at) return refuse('revoked_token', `The API key was revoked at ${key.revoked_at}.`);
  if (key.expires_at && Date.parse(key.expires_at) <= Date.now()) {
    return refuse('expired_token', `The API key expired at ${key.expires_at}.`);
  }
  database.apiKeys
    .noteUse(token, key.id)
    .catch((error: unknown) =>
      logger.warn({ err: error, api_key: key.id }, 'the last use of an API key could not be recorded'),
    );
  const { account_id, id, scopes, expires_at, profile_id = ownProfileId(account_id) } = key;
  return { caller: { account_id, id, scopes, profile_id, ...(expires_at !== undefined && { expires_at }) } };
}

async function checkAccessToken(
  { database }: Pick<ApiDependencies, 'database'>,
  token: string,
): ReturnType<TokenCheck> {
  const found = await database.accessTokens.find(token);
  if (!found) return refuse('invalid_token', 'The access token is unknown.');
  if (found.expires_at <= Date.now()) {
    return refuse(
      'expired_token',
      `The access token expired at ${new Date(found.expires_at).toISOString()}.`,
    );
  }
  if (found.revoked) return refuse('revoked_token', 'The access token has been revoked.');
  const { account_id, client_id, profile_id = ownProfileId(account_id) } = found;
  return { caller: { account_id, id: client_id, profile_id, scopes: found.scopes.filter(isScope) } };
}

function malformed(): { refusal: Refusal } {
  return refuse(
    'malformed_token',
    'This is not a valid access token or API key: it may have been cut short.',
  );
}

function refuse(code: Refusal['code'], detail: string): { refusal: Refusal } {
  return { refusal: { code, detail } };
}
