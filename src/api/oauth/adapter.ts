import { type Adapter, type AdapterFactory, errors } from 'oidc-provider';
import type { Database } from '../../models/database.js';
import type { StoredOAuthClient } from '../../models/oauth-clients.js';
import type { OAuthPayload } from '../../models/oauth-records.js';

/** Where the OAuth library keeps its records: clients are ours, registered through the API; everything else is a record. */
export function createAdapter({ oauthClients, oauthRecords }: Database): AdapterFactory {
  return (kind): Adapter => ({
    async find(id) {
      if (kind !== 'Client') return oauthRecords.find(kind, id);
      const client = await oauthClients.find(id);
      return client && toMetadata(client);
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

/** A client as RFC 7591 writes it; in place of the secret stands its hash, which the provider is told to compare with. */
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
    ...(client.secret_hash && { client_secret: client.secret_hash }),
  };
}
