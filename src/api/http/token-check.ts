import { API_KEY_PREFIX, isScope, looksLikeApiKey } from '../../domain/access/api-key.js';
import { ownProfileId } from '../../domain/access/profile.js';
import type { ProblemCode } from '../../domain/http/problem.js';
import type { ApiDependencies, Caller } from './context.js';

/** Why a token is refused. */
export interface Refusal {
  code: Extract<ProblemCode, 'malformed_token' | 'invalid_token' | 'expired_token' | 'revoked_token'>;
  detail: string;
}

/** Finds out whom a token stands for. */
export type TokenCheck = (token: string) => Promise<{ caller: Caller } | { refusal: Refusal }>;

/** The form of an OAuth access token, which is an opaque one. */
const ACCESS_TOKEN = /^[\w-]{43}$/;

/** The check of API keys and of OAuth access tokens. Look-ups are cached for seconds; what expires does so at its time. */
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
  if (!key) return refuse('invalid_token', 'There is no such API key.');
  if (key.revoked_at) return refuse('revoked_token', `The API key was revoked at ${key.revoked_at}.`);
  if (key.expires_at && Date.parse(key.expires_at) <= Date.now()) {
    return refuse('expired_token', `The API key expired at ${key.expires_at}.`);
  }
  database.apiKeys
    .noteUse(token, key.id)
    .catch((error: unknown) =>
      logger.warn({ err: error, api_key: key.id }, 'the use of a key was not noted'),
    );
  const { account_id, id, scopes, profile_id = ownProfileId(account_id) } = key;
  return { caller: { account_id, id, scopes, profile_id } };
}

async function checkAccessToken(
  { database }: Pick<ApiDependencies, 'database'>,
  token: string,
): ReturnType<TokenCheck> {
  const found = await database.accessTokens.find(token);
  if (!found) return refuse('invalid_token', 'There is no such access token.');
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
  return refuse('malformed_token', 'This is not a valid token or API key: it may have been cut short.');
}

function refuse(code: Refusal['code'], detail: string): { refusal: Refusal } {
  return { refusal: { code, detail } };
}
