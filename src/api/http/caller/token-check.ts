import { API_KEY, isScope } from '../../../domain/access/api-key.js';
import { PORTAL_TOKEN } from '../../../domain/access/portal-session.js';
import { ownProfileId } from '../../../domain/access/profile.js';
import { hashSecret } from '../../../domain/access/secret-hash.js';
import type { ProblemCode } from '../../../domain/http/problems.js';
import type { ApiDependencies } from '../context.js';
import type { Caller } from './caller.js';

/** Why a token is refused. */
export interface Refusal {
  code: Extract<ProblemCode, 'malformed_token' | 'invalid_token' | 'expired_token' | 'revoked_token'>;
  detail: string;
}

/** A token as it is remembered: what it belongs to, and its SHA-256. */
export type Credential = Pick<Caller, 'type' | 'token_hash'>;

type Result = { caller: Caller } | { refusal: Refusal };

/** Finds the caller that a token belongs to. */
export type TokenCheck = (token: string) => Promise<Result>;

type Dependencies = Pick<ApiDependencies, 'database' | 'logger'>;

/** What an OAuth access token looks like. */
const ACCESS_TOKEN = /^[\w-]{43}$/;

/** Checks API keys, portal tokens and OAuth access tokens. Look-ups are cached for seconds; expiry is exact. */
export function createTokenCheck(dependencies: Dependencies): TokenCheck {
  return async (token) => {
    const type = typeOf(token);
    return type ? checkCredential(dependencies, { type, token_hash: hashSecret(token) }) : malformed();
  };
}

/** Checks a token that was checked before, and is known by its hash alone: whether it still stands for its caller. */
export function checkCredential(
  dependencies: Dependencies,
  { type, token_hash }: Credential,
): Promise<Result> {
  return CHECKS[type](dependencies, token_hash);
}

const CHECKS: Record<Caller['type'], (dependencies: Dependencies, hash: string) => Promise<Result>> = {
  api_key: checkApiKey,
  portal_session: checkPortalToken,
  oauth_client: checkAccessToken,
};

/** What a token belongs to by its form; `undefined` if it is none: the database need not be asked. */
function typeOf(token: string): Caller['type'] | undefined {
  if (token.startsWith(API_KEY.prefix)) return API_KEY.isOne(token) ? 'api_key' : undefined;
  if (token.startsWith(PORTAL_TOKEN.prefix)) return PORTAL_TOKEN.isOne(token) ? 'portal_session' : undefined;
  return ACCESS_TOKEN.test(token) ? 'oauth_client' : undefined;
}

async function checkApiKey({ database, logger }: Dependencies, token_hash: string): Promise<Result> {
  const key = await database.apiKeys.ofHash(token_hash);
  if (!key) return refuse('invalid_token', 'The API key is unknown.');
  if (key.revoked_at) return refuse('revoked_token', `The API key was revoked at ${key.revoked_at}.`);
  if (key.expires_at && Date.parse(key.expires_at) <= Date.now()) {
    return refuse('expired_token', `The API key expired at ${key.expires_at}.`);
  }
  database.apiKeys
    .noteUse(token_hash, key.id)
    .catch((error: unknown) =>
      logger.warn({ err: error, api_key: key.id }, 'the last use of an API key could not be recorded'),
    );
  const { account_id, id, name, scopes, expires_at, profile_id = ownProfileId(account_id) } = key;
  const ends = expires_at !== undefined && { expires_at, token_expires_at: expires_at };
  return { caller: { type: 'api_key', account_id, id, token_hash, name, scopes, profile_id, ...ends } };
}

async function checkPortalToken({ database }: Dependencies, token_hash: string): Promise<Result> {
  const session = await database.portalSessions.ofHash(token_hash);
  if (!session) return refuse('invalid_token', 'The portal session is unknown.');
  const { account_id, id, name, scopes, expires_at, revoked_at } = session;
  if (revoked_at !== undefined)
    return refuse('revoked_token', `The portal session was ended at ${revoked_at}.`);
  if (Date.parse(expires_at) <= Date.now())
    return refuse('expired_token', `The portal session expired at ${expires_at}. Ask for a new link.`);
  const ends = { expires_at, token_expires_at: expires_at };
  return {
    caller: {
      type: 'portal_session',
      account_id,
      id,
      token_hash,
      name,
      scopes,
      profile_id: ownProfileId(account_id),
      ...ends,
    },
  };
}

async function checkAccessToken({ database }: Dependencies, token_hash: string): Promise<Result> {
  const found = await database.accessTokens.ofHash(token_hash);
  if (!found) return refuse('invalid_token', 'The access token is unknown.');
  if (found.expires_at <= Date.now()) {
    return refuse(
      'expired_token',
      `The access token expired at ${new Date(found.expires_at).toISOString()}.`,
    );
  }
  if (found.revoked) return refuse('revoked_token', 'The access token has been revoked.');
  const { account_id, client_id: id, profile_id = ownProfileId(account_id) } = found;
  const token_expires_at = new Date(found.expires_at).toISOString();
  const scopes = found.scopes.filter(isScope);
  return {
    caller: { type: 'oauth_client', account_id, id, token_hash, profile_id, scopes, token_expires_at },
  };
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
