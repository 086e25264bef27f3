import { profileOfSubject } from '../../domain/access/subject.js';
import { TIMINGS, type Timings } from '../../domain/timings.js';
import { ShortCache } from '../mongo/short-cache.js';
import { effectiveRecord } from './effective-record.js';
import type { LoginRepository } from './logins.js';
import type { OAuthClientRepository } from './oauth-clients.js';
import type { OAuthRecordRepository } from './oauth-records.js';

/** An access token as a resource sees it. */
export interface OAuthToken {
  account_id: string;
  client_id: string;
  /** Of the person who allowed it; absent if the client acts for the account. */
  profile_id?: string;
  /** The granted scopes that client and person may still have. */
  scopes: string[];
  /** Milliseconds since the epoch. */
  expires_at: number;
  revoked: boolean;
}

/** Access tokens, with the scopes that they have now. */
export class AccessTokenRepository {
  /** A token that was revoked, or lost a scope, may be honoured for as long as it is remembered. */
  private readonly cache: ShortCache<OAuthToken | undefined>;
  private readonly records: OAuthRecordRepository;
  private readonly owners: { oauthClients: OAuthClientRepository; logins: LoginRepository };

  constructor(
    records: OAuthRecordRepository,
    owners: { oauthClients: OAuthClientRepository; logins: LoginRepository },
    { token_lifetime_ms }: Timings = TIMINGS,
  ) {
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
