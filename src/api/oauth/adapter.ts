import { type Adapter, type AdapterFactory, errors } from 'oidc-provider';
import type { StoredOAuthClient } from '../../models/access/oauth-clients.js';
import type { OAuthPayload } from '../../models/access/oauth-records.js';
import type { Database } from '../../models/database.js';

/** Where the OAuth library keeps its records: clients are ours, registered through the API; everything else is a record. */
export function createAdapter({ oauthClients, oauthRecords }: Database): AdapterFactory {
  return (kind): Adapter => ({
    async find(id) {
      if (kind === 'Client') {
        const client = await oauthClients.find(id);
        return client && toMetadata(client);
      }
      const record = await oauthRecords.find(kind, id);
      if (!record || (kind !== 'Grant' && kind !== 'AuthorizationCode')) return record;
      const client = await oauthClients.find(record.clientId ?? '');
      return client && asRegistered(record, client);
    },
    upsert: (id, payload, lifetime: number | undefined) =>
      oauthRecords.save(kind, id, payload as OAuthPayload, lifetime ?? 0),
    findByUid: (uid) => oauthRecords.findByUid(kind, uid),
    async findByUserCode() {
      return undefined; // the device flow is off
    },
    async consume(id) {
      if (!(await oauthRecords.consume(id))) throw new errors.InvalidGrant('it has been used already');
    },
    destroy: (id) => oauthRecords.revoke(kind, id),
    revokeByGrantId: (grantId) => oauthRecords.revokeAllOf('grant', grantId),
  });
}

/**
 * A grant or a code as far as its client's registration still allows it: the library compares with the registration when a person is asked
 * for consent only, not when a code or a refresh token is exchanged.
 */
function asRegistered(record: OAuthPayload, client: StoredOAuthClient): OAuthPayload | undefined {
  const { redirectUri, openid } = record;
  if (redirectUri !== undefined && !client.redirect_uris.includes(redirectUri)) return undefined;
  if (openid?.scope === undefined) return record;
  const registered = openid.scope
    .split(' ')
    .filter((scope) => client.scopes.some((known) => known === scope));
  return { ...record, openid: { ...openid, scope: registered.join(' ') } };
}

/**
 * A client as RFC 7591 writes it; in place of the secret stand the hashes of those that work, separated by a space, which the provider
 * is told to compare with.
 */
function toMetadata(client: StoredOAuthClient) {
  return {
    client_id: client.id,
    client_name: client.name,
    account_id: client.account_id,
    grant_types: client.grant_types,
    response_types: client.grant_types.includes('authorization_code') ? (['code'] as const) : [],
    redirect_uris: client.redirect_uris,
    scope: client.scopes.join(' '),
    token_endpoint_auth_method: client.token_endpoint_auth_method,
    ...(client.secret_hashes.length > 0 && { client_secret: client.secret_hashes.join(' ') }),
  };
}
