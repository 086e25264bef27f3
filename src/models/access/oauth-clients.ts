import { type Connection, type Model, Schema } from 'mongoose';
import { newClientSecret, type OAuthClient } from '../../domain/access/oauth-client.js';
import { hashSecret } from '../../domain/access/secret-hash.js';
import { newId } from '../../domain/basics/ids.js';

/** What an account says of a client when it registers it. */
export type OAuthClientInput = Omit<OAuthClient, 'id' | 'account_id' | 'created_at'>;

/** A client with the hashes of the secrets that it can authenticate with: none, one, or two while a rotation overlaps. */
export interface StoredOAuthClient extends OAuthClient {
  secret_hashes: string[];
}

interface ClientDocument extends OAuthClientInput {
  _id: string;
  account_id: string;
  secret_hash?: string | null;
  previous_secret_hash?: string | null;
  previous_secret_ends_at?: Date | null;
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
    previous_secret_hash: String,
    previous_secret_ends_at: Date,
    created_at: { type: Date, required: true },
  },
  { versionKey: false },
);
schema.index({ account_id: 1, _id: 1 });

/** OAuth clients. None is cached: what is changed or taken away counts at once, on every process. */
export class OAuthClientRepository {
  private readonly model: Model<ClientDocument>;

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
    return { client: toClient(document), secret };
  }

  /** A client of any account: for the OAuth endpoints, which learn the account from it. */
  async find(clientId: string): Promise<StoredOAuthClient | undefined> {
    const document = await this.model.findById(clientId).lean();
    return document ? { ...toClient(document), secret_hashes: secretHashes(document) } : undefined;
  }

  /** One client of an account; `undefined` if the account has none with that id. */
  async get(accountId: string, clientId: string): Promise<OAuthClient | undefined> {
    const document = await this.model.findById(clientId).lean();
    return document?.account_id === accountId ? toClient(document) : undefined;
  }

  /** Clients of an account, oldest first, after the one named. */
  async list(accountId: string, limit: number, after?: string): Promise<OAuthClient[]> {
    const documents = await this.model
      .find({ account_id: accountId, ...(after !== undefined && { _id: { $gt: after } }) })
      .sort({ _id: 1 })
      .limit(limit)
      .lean();
    return documents.map(toClient);
  }

  /** Replaces what an account says of a client; its secret stays. @returns `undefined` if there is none */
  async replace(
    accountId: string,
    clientId: string,
    input: OAuthClientInput,
  ): Promise<OAuthClient | undefined> {
    const document = await this.model
      .findOneAndUpdate(
        { _id: clientId, account_id: accountId },
        { $set: input },
        { returnDocument: 'after' },
      )
      .lean();
    return document ? toClient(document) : undefined;
  }

  /**
   * Gives a client a new secret, which is in the result and nowhere else. The one before works until the overlap ends, any older one no
   * more.
   *
   * @returns `undefined` where there is no client with a secret
   */
  async rotateSecret(accountId: string, clientId: string, overlapEnds: Date): Promise<string | undefined> {
    const before = await this.model.findById(clientId).lean();
    if (before?.account_id !== accountId || !before.secret_hash) return undefined;
    const secret = newClientSecret();
    const { matchedCount } = await this.model.updateOne(
      { _id: clientId },
      {
        secret_hash: hashSecret(secret),
        previous_secret_hash: before.secret_hash,
        previous_secret_ends_at: overlapEnds,
      },
    );
    return matchedCount > 0 ? secret : undefined;
  }

  /** @returns whether there was one */
  async delete(accountId: string, clientId: string): Promise<boolean> {
    const { deletedCount } = await this.model.deleteOne({ _id: clientId, account_id: accountId });
    return deletedCount > 0;
  }
}

function toClient({ _id, created_at, ...rest }: ClientDocument): OAuthClient {
  return {
    id: _id,
    account_id: rest.account_id,
    name: rest.name,
    grant_types: rest.grant_types,
    redirect_uris: rest.redirect_uris,
    scopes: rest.scopes,
    token_endpoint_auth_method: rest.token_endpoint_auth_method,
    created_at: created_at.toISOString(),
  };
}

function secretHashes({
  secret_hash,
  previous_secret_hash,
  previous_secret_ends_at,
}: ClientDocument): string[] {
  const overlaps = previous_secret_ends_at && previous_secret_ends_at.getTime() > Date.now();
  return [secret_hash, overlaps && previous_secret_hash].filter((hash) => typeof hash === 'string');
}
