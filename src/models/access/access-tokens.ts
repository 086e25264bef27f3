import { isRegisteredRedirect } from '../../domain/access/oauth-client.js';
import { profileOfSubject } from '../../domain/access/subject.js';
import type { Timings } from '../../domain/timings.js';
import { ShortCache } from '../mongo/short-cache.js';
import type { LoginRepository } from './logins.js';
import type { OAuthClientRepository } from './oauth-clients.js';
import type { OAuthPayload, OAuthRecordRepository } from './oauth-records.js';

/** An access token as a resource sees it. */
export interface OAuthToken {
  account_id: string;
  client_id: string;
  /** Profile of the person who granted it; absent if the client acts for the account. */
  profile_id?: string;
  /** The granted scopes that client and person may still have. */
  scopes: string[];
  /** Milliseconds since the epoch. */
  expires_at: number;
  revoked: boolean;
}

/** Possible owners of a token. */
interface Owners {
  oauthClients: OAuthClientRepository;
  logins: LoginRepository;
}

/** Access tokens, with the scopes that they have now. */
export class AccessTokenRepository {
  /** A token that was revoked, or lost a scope, may be honoured for as long as it is remembered. */
  private readonly cache: ShortCache<OAuthToken | undefined>;
  private readonly records: OAuthRecordRepository;
  private readonly owners: Owners;

  constructor(records: OAuthRecordRepository, owners: Owners, { token_lifetime_ms }: Timings) {
    this.cache = new ShortCache(token_lifetime_ms);
    this.records = records;
    this.owners = owners;
  }

  /** The token of a hash, even if it is expired or revoked; remembered for a moment. */
  ofHash(hash: string): Promise<OAuthToken | undefined> {
    return this.cache.get(hash, async () => {
      const found = await this.records.findAccessToken(hash);
      if (!found) return undefined;
      const { extra, clientId, accountId, scope = '', exp = 0 } = found.record;
      if (!extra?.account_id || !clientId) return undefined;
      const effective = await effectiveRecord({ clientId, accountId, scope }, this.owners);
      return {
        account_id: extra.account_id,
        client_id: clientId,
        ...(accountId && { profile_id: profileOfSubject(accountId) }),
        scopes: (effective?.scope ?? '').split(' ').filter((name) => name !== ''),
        expires_at: exp * 1_000,
        revoked: found.revoked || !effective,
      };
    });
  }
}

/**
 * A grant, a code or a token without the scopes that its client is no longer registered for or its person may no longer
 * allow. The library checks both only when a person is asked for consent.
 *
 * @returns `undefined` after the client was removed, the redirect URI of a code was, or the person's login or password
 * changed
 */
export async function effectiveRecord(
  record: OAuthPayload,
  { oauthClients, logins }: Owners,
): Promise<OAuthPayload | undefined> {
  const { clientId = '', accountId, redirectUri, scope, openid } = record;
  const [client, login] = await Promise.all([
    oauthClients.find(clientId),
    accountId === undefined ? undefined : logins.ofSubject(accountId),
  ]);
  if (!client || (accountId !== undefined && login?.account_id !== client.account_id)) return undefined;
  if (redirectUri !== undefined && !isRegisteredRedirect(client, redirectUri)) return undefined;
  const allowed = new Set<string>(client.scopes.filter((name) => !login || login.scopes.includes(name)));
  const narrowed = (scopes: string) =>
    scopes
      .split(' ')
      .filter((name) => allowed.has(name))
      .join(' ');
  return {
    ...record,
    ...(scope !== undefined && { scope: narrowed(scope) }),
    ...(openid?.scope !== undefined && { openid: { ...openid, scope: narrowed(openid.scope) } }),
  };
}
