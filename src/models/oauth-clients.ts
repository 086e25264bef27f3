import { type Connection, type Model, Schema } from 'mongoose';
import { newId } from '../domain/ids.js';
import { newClientSecret, type OAuthClient } from '../domain/oauth-client.js';
import { hashSecret } from '../domain/secret-hash.js';
import { ShortCache } from './short-cache.js';

/** What an account says of a client when it registers it. */
export type OAuthClientInput = Omit<OAuthClient, 'id' | 'account_id' | 'created_at'>;

/** A client with the hash of its secret, if it has one. */
export interface StoredOAuthClient extends OAuthClient {
  secret_hash?: string;
}

interface ClientDocument extends OAuthClientInput {
  _id: string;
  account_id: string;
  secret_hash?: string | null;
  created_at: Date;
}

const schema = new Schema<ClientDocument>(
  {
    _id: String,
    account_id: { type: String, required: true },
    name: { type: String, required: true },
    grant_types: { type: [String], required: true },
    redirect_uris: { type: [String], required: true },
    scopes: { type: [String], required: true },
    token_endpoint_auth_method: { type: String, required: true },
    secret_hash: String,
    created_at: { type: Date, required: true },
  },
  { versionKey: false },
);
schema.index({ account_id: 1, _id: 1 });

/** A client that was taken away may be honoured this long, milliseconds. */
const CACHE_MS = 2_000;

export class OAuthClientRepository {
  private readonly model: Model<ClientDocument>;
  private readonly cache = new ShortCache<StoredOAuthClient | undefined>(CACHE_MS);

  constructor(connection: Connection) {
    this.model = connection.model<ClientDocument>('oauth_client', schema, 'oauth_clients');
  }

  /** Registers a client. Its secret is in the result and nowhere else; a public client has none. */
  async create(
    accountId: string,
    input: OAuthClientInput,
  ): Promise<{ client: OAuthClient; secret: string | undefined }> {
    const secret = input.token_endpoint_auth_method === 'none' ? undefined : newClientSecret();
    const document: ClientDocument = {
      ...input,
      _id: newId('oauth_client'),
      account_id: accountId,
      created_at: new Date(),
      ...(secret && { secret_hash: hashSecret(secret) }),
    };
    await this.model.create(document);
    const { secret_hash: _, ...client } = toClient(document);
    return { client, secret };
  }

  /** A client of any account: for the OAuth endpoints, which learn the account from it. */
  find(clientId: string): Promise<StoredOAuthClient | undefined> {
    return this.cache.get(clientId, async () => {
      const document = await this.model.findById(clientId).lean();
      return document ? toClient(document) : undefined;
    });
  }

  /** One client of an account; `undefined` where it has none such. */
  async get(accountId: string, clientId: string): Promise<OAuthClient | undefined> {
    const found = await this.find(clientId);
    if (found?.account_id !== accountId) return undefined;
    const { secret_hash: _, ...client } = found;
    return client;
  }

  /** Clients of an account, oldest first, after the one named. */
  async list(accountId: string, limit: number, after?: string): Promise<OAuthClient[]> {
    const documents = await this.model
      .find({ account_id: accountId, ...(after !== undefined && { _id: { $gt: after } }) })
      .sort({ _id: 1 })
      .limit(limit)
      .lean();
    return documents.map((document) => {
      const { secret_hash: _, ...client } = toClient(document);
      return client;
    });
  }

  /** @returns whether there was one */
  async delete(accountId: string, clientId: string): Promise<boolean> {
    const { deletedCount } = await this.model.deleteOne({ _id: clientId, account_id: accountId });
    this.cache.forget(clientId);
    return deletedCount > 0;
  }
}

function toClient({ _id, secret_hash, created_at, ...rest }: ClientDocument): StoredOAuthClient {
  return {
    id: _id,
    account_id: rest.account_id,
    name: rest.name,
    grant_types: rest.grant_types,
    redirect_uris: rest.redirect_uris,
    scopes: rest.scopes,
    token_endpoint_auth_method: rest.token_endpoint_auth_method,
    created_at: created_at.toISOString(),
    ...(secret_hash && { secret_hash }),
  };
}
