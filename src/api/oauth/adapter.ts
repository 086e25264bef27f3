import { type Adapter, type AdapterFactory, errors } from 'oidc-provider';
import { effectiveRecord } from '../../models/access/access-tokens.js';
import type { StoredOAuthClient } from '../../models/access/oauth-clients.js';
import type { OAuthPayload } from '../../models/access/oauth-records.js';
import type { Database } from '../../models/database.js';

/**
 * Where the OAuth library keeps its records: clients are ours, registered through the API; everything else is a record.
 */
export function createAdapter(database: Database): AdapterFactory {
  const { oauthClients, oauthRecords } = database;
  return (kind): Adapter => ({
    async find(id) {
      if (kind === 'Client') {
        const client = await oauthClients.find(id);
        return client && toMetadata(client);
      }
      const record = await oauthRecords.find(kind, id);
      return record && GRANTED.has(kind) ? effectiveRecord(record, database) : record;
    },
    upsert: (id, payload, lifetime: number | undefined) =>
      oauthRecords.save(kind, id, payload as OAuthPayload, lifetime ?? 0),
    findByUid: (uid) => oauthRecords.findByUid(kind, uid),
    async findByUserCode() {
      return undefined; // the device flow is off
    },
    async consume(id) {
      if (!(await oauthRecords.consume(id))) throw new errors.InvalidGrant('it has already been used');
    },
    destroy: (id) => oauthRecords.revoke(kind, id),
    revokeByGrantId: (grantId) => oauthRecords.revokeAllOf('grant', grantId),
  });
}

/** Records that a client holds because somebody allowed it. */
const GRANTED = new Set(['Grant', 'AuthorizationCode', 'AccessToken', 'RefreshToken', 'ClientCredentials']);

/**
 * A client as RFC 7591 writes it; in place of the secret stand the hashes of those that work, separated by a space,
 * which the provider gets to compare with.
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
