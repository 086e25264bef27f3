import { API_KEY, isScope } from '../../../domain/access/api-key.js';
import { DESK_SCOPES, DESK_TOKEN, type DeskSession } from '../../../domain/access/desk-session.js';
import { PORTAL_TOKEN } from '../../../domain/access/portal-session.js';
import { ownProfileId } from '../../../domain/access/profile.js';
import { hashSecret } from '../../../domain/access/secret-hash.js';
import type { Problem } from '../../../domain/http/problem.js';
import { sharedNow } from '../../../domain/time/shared-time.js';
import type { ApiDependencies } from '../context.js';
import type { Caller } from './caller.js';
import { refuseToken } from './refusals.js';

type Dependencies = Pick<ApiDependencies, 'database' | 'logger' | 'settings'>;

/** Form of an OAuth access token. */
const ACCESS_TOKEN = /^[\w-]{43}$/;

/**
 * The caller that an API key, a token of a session or an OAuth access token belongs to. Look-ups are cached for
 * seconds; expiry is exact.
 *
 * @throws Problem 401
 */
export async function checkToken(dependencies: Dependencies, token: string): Promise<Caller> {
  const type = typeOf(token);
  if (type) return checkCredential(dependencies, { type, token_hash: hashSecret(token) });
  throw refuseToken(
    'malformed_token',
    'This is not a valid access token or API key: it may have been cut short.',
  );
}

/** Whether a text has the form of a token. */
export const hasTokenForm = (text: string): boolean => typeOf(text) !== undefined;

/**
 * Checks a token that was checked before, and is known by its hash alone: whether it still stands for its caller.
 *
 * @throws Problem 401
 */
export function checkCredential(
  dependencies: Dependencies,
  { type, token_hash }: Pick<Caller, 'type' | 'token_hash'>,
): Promise<Caller> {
  return CHECKS[type](dependencies, token_hash);
}

const CHECKS: Record<Caller['type'], (dependencies: Dependencies, hash: string) => Promise<Caller>> = {
  api_key: checkApiKey,
  portal_session: checkPortalToken,
  desk_session: checkDeskToken,
  oauth_client: checkAccessToken,
};

/** Owner of a token by its form; `undefined` if it is none: the database need not be asked. */
function typeOf(token: string): Caller['type'] | undefined {
  if (token.startsWith(API_KEY.prefix)) return API_KEY.isOne(token) ? 'api_key' : undefined;
  if (token.startsWith(PORTAL_TOKEN.prefix)) return PORTAL_TOKEN.isOne(token) ? 'portal_session' : undefined;
  if (token.startsWith(DESK_TOKEN.prefix)) return DESK_TOKEN.isOne(token) ? 'desk_session' : undefined;
  return ACCESS_TOKEN.test(token) ? 'oauth_client' : undefined;
}

async function checkApiKey(dependencies: Dependencies, token_hash: string): Promise<Caller> {
  const { database, logger } = dependencies;
  const key = await database.apiKeys.ofHash(token_hash);
  if (!key) throw refuseToken('invalid_token', 'The API key is unknown.');
  if (key.revoked_at) throw refuseToken('revoked_token', `The API key was revoked at ${key.revoked_at}.`);
  if (key.expires_at && Date.parse(key.expires_at) <= sharedNow()) {
    throw refuseToken('expired_token', `The API key expired at ${key.expires_at}.`);
  }
  if (await hasMakerEnded(dependencies, key))
    throw refuseToken('revoked_token', 'The API key ended with the desk session that it was made in.');
  database.apiKeys
    .noteUse(token_hash, key.id)
    .catch((error: unknown) =>
      logger.warn({ err: error, api_key: key.id }, 'the last use of an API key could not be recorded'),
    );
  const { account_id, id, name, scopes, expires_at, profile_id = ownProfileId(account_id) } = key;
  const { desk_session_id } = key;
  const ends = {
    ...(expires_at !== undefined && { expires_at, token_expires_at: expires_at }),
    ...(desk_session_id !== undefined && { desk_session_id }),
  };
  return { type: 'api_key', account_id, id, token_hash, name, scopes, profile_id, ...ends };
}

async function checkPortalToken(dependencies: Dependencies, token_hash: string): Promise<Caller> {
  const { database } = dependencies;
  const session = await database.portalSessions.ofHash(token_hash);
  if (!session) throw refuseToken('invalid_token', 'The portal session is unknown.');
  const { account_id, id, name, scopes, expires_at, revoked_at, return_url } = session;
  const isExpired = Date.parse(expires_at) <= sharedNow();
  const isRevoked = revoked_at !== undefined || (await hasMakerEnded(dependencies, session));
  if (isRevoked || isExpired) {
    const look = (await database.accounts.current(account_id))?.portal;
    const from = { ...look, ...(return_url !== undefined && { return_url }) };
    const when = revoked_at === undefined ? 'with the session that it was made in' : `at ${revoked_at}`;
    throw isRevoked
      ? refuseToken('revoked_token', `The portal session was ended ${when}.`, from)
      : refuseToken(
          'expired_token',
          `The portal session expired at ${expires_at}. Ask for a new link.`,
          from,
        );
  }
  const ends = { expires_at, token_expires_at: expires_at };
  const profile_id = ownProfileId(account_id);
  return { type: 'portal_session', account_id, id, token_hash, name, scopes, profile_id, ...ends };
}

async function checkDeskToken({ database, settings }: Dependencies, token_hash: string): Promise<Caller> {
  const session = await database.deskSessions.ofHash(token_hash);
  if (!session) throw refuseToken('invalid_token', 'The desk session is unknown.');
  const ended = endOf(session, settings);
  if (ended) throw ended;
  const { account_id, id, name, subject, role, expires_at } = session;
  const scopes = DESK_SCOPES[role];
  const ends = { expires_at, token_expires_at: expires_at, desk_session_id: id };
  const profile_id = ownProfileId(account_id);
  const person = { subject, role };
  return { type: 'desk_session', account_id, id, token_hash, name, person, scopes, profile_id, ...ends };
}

/**
 * The refusal of a session at the desk that has ended, or that the settings would not give any more; `undefined`: it is
 * live.
 */
function endOf(
  { issuer, account_id, expires_at, revoked_at }: DeskSession,
  { HOOKLINE_OIDC_ISSUER, HOOKLINE_OIDC_ACCOUNT }: Dependencies['settings'],
): Problem | undefined {
  if (revoked_at) return refuseToken('revoked_token', `The desk session was ended at ${revoked_at}.`);
  if (Date.parse(expires_at) <= sharedNow())
    return refuseToken('expired_token', `The desk session expired at ${expires_at}. Sign in again.`);
  if (issuer !== HOOKLINE_OIDC_ISSUER || account_id !== HOOKLINE_OIDC_ACCOUNT)
    return refuseToken(
      'revoked_token',
      'The desk session is of an identity provider or an account that is not set any more. Sign in again.',
    );
  return undefined;
}

/** Whether an API key or a portal session was made in a session at the desk that has ended. */
async function hasMakerEnded(
  { database, settings }: Dependencies,
  { desk_session_id }: { desk_session_id?: string },
): Promise<boolean> {
  if (desk_session_id === undefined) return false;
  const session = await database.deskSessions.ofId(desk_session_id);
  return !session || endOf(session, settings) !== undefined;
}

async function checkAccessToken({ database }: Dependencies, token_hash: string): Promise<Caller> {
  const found = await database.accessTokens.ofHash(token_hash);
  if (!found) throw refuseToken('invalid_token', 'The access token is unknown.');
  const token_expires_at = new Date(found.expires_at).toISOString();
  if (found.expires_at <= sharedNow())
    throw refuseToken('expired_token', `The access token expired at ${token_expires_at}.`);
  if (found.revoked) throw refuseToken('revoked_token', 'The access token has been revoked.');
  const { account_id, client_id: id, profile_id = ownProfileId(account_id) } = found;
  const scopes = found.scopes.filter(isScope);
  return { type: 'oauth_client', account_id, id, token_hash, profile_id, scopes, token_expires_at };
}
