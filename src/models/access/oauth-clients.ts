import type { Connection } from 'mongoose';
import { newClientSecret, type OAuthClient } from '../../domain/access/oauth-client.js';
import { hashSecret } from '../../domain/access/secret-hash.js';
import { newId } from '../../domain/basics/ids.js';
import type { Origin } from '../../domain/change/change.js';
import { sharedDate, sharedNow } from '../../domain/time/shared-time.js';
import { recordedFields } from '../change/change-document.js';
import type { ChangeRepository } from '../change/changes.js';
import { Recorded } from '../change/recorded.js';
import { collection, type DocumentIn, may, must } from '../mongo/collection.js';

/** Fields that an account sets when it registers a client. */
export type OAuthClientInput = Omit<OAuthClient, 'id' | 'account_id' | 'created_at'>;

/**
 * A client with the hashes of the secrets that it can authenticate with: none, one, or two while a rotation overlaps.
 */
export interface StoredOAuthClient extends OAuthClient {
  secret_hashes: string[];
}

const clients = collection(
  'oauth_clients',
  {
    _id: must(String),
    account_id: must(String),
    name: must(String),
    grant_types: must<OAuthClient['grant_types']>([String]),
    redirect_uris: must<string[]>([String]),
    scopes: must<OAuthClient['scopes']>([String]),
    token_endpoint_auth_method: must<OAuthClient['token_endpoint_auth_method']>(String),
    secret_hash: may(String),
    previous_secret_hash: may(String),
    previous_secret_ends_at: may(Date),
    created_at: must(Date),
    ...recordedFields,
  },
  { indexes: [{ account_id: 1, _id: 1 }] },
);
type ClientDocument = DocumentIn<typeof clients>;

/** OAuth clients. They are not cached, so that every process sees a change at once. */
export class OAuthClientRepository {
  private readonly documents: Recorded<ClientDocument>;

  constructor(connection: Connection, changes: ChangeRepository) {
    this.documents = new Recorded(clients(connection), changes, { kind: 'oauth_client', show: toClient });
  }

  /** Registers a client. Its secret is in the result and nowhere else; a public client has none. */
  async create(
    accountId: string,
    input: OAuthClientInput,
    origin: Origin,
  ): Promise<{ client: OAuthClient; secret: string | undefined }> {
    const secret = input.token_endpoint_auth_method === 'none' ? undefined : newClientSecret();
    const document = {
      ...input,
      _id: newId('oauth_client'),
      account_id: accountId,
      created_at: sharedDate(),
      ...(secret && { secret_hash: hashSecret(secret) }),
    };
    return { client: toClient(await this.documents.create(document, origin)), secret };
  }

  /** A client of any account, for the OAuth endpoints, which get the account from the client. */
  async find(clientId: string): Promise<StoredOAuthClient | undefined> {
    const document = await this.documents.findOne({ _id: clientId });
    return document ? { ...toClient(document), secret_hashes: secretHashes(document) } : undefined;
  }

  /** One client of an account; `undefined` if the account has none with that id. */
  async get(accountId: string, clientId: string): Promise<OAuthClient | undefined> {
    const document = await this.documents.findOne({ _id: clientId });
    return document?.account_id === accountId ? toClient(document) : undefined;
  }

  /** Clients of an account, oldest first, after the one named. */
  async list(accountId: string, limit: number, after?: string): Promise<OAuthClient[]> {
    return (await this.documents.page({ account_id: accountId }, limit, after)).map(toClient);
  }

  /** Replaces what an account sets of a client; its secret stays. @returns `undefined` if there is no such client */
  async replace(
    accountId: string,
    clientId: string,
    input: OAuthClientInput,
    origin: Origin,
  ): Promise<OAuthClient | undefined> {
    const ofClient = { _id: clientId, account_id: accountId };
    const changed = await this.documents.change(ofClient, origin, () => ({ action: 'updated', set: input }));
    return changed && toClient(changed);
  }

  /**
   * Gives a client a new secret, which is in the result and nowhere else. The previous one works until the overlap
   * ends; older ones stop working now.
   *
   * @returns `undefined` if there is no such client, or it has no secret
   */
  async rotateSecret(
    accountId: string,
    clientId: string,
    overlapEnds: Date,
    origin: Origin,
  ): Promise<string | undefined> {
    const secret = newClientSecret();
    const ofClient = { _id: clientId, account_id: accountId };
    const changed = await this.documents.change(ofClient, origin, ({ secret_hash }) =>
      secret_hash
        ? {
            action: 'secret_rotated',
            set: {
              secret_hash: hashSecret(secret),
              previous_secret_hash: secret_hash,
              previous_secret_ends_at: overlapEnds,
            },
            secrets: ['/secret'],
          }
        : undefined,
    );
    return changed && secret;
  }

  /** @returns whether there was one to remove */
  delete(accountId: string, clientId: string, origin: Origin): Promise<boolean> {
    return this.documents.delete({ _id: clientId, account_id: accountId }, origin);
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
  const overlaps = previous_secret_ends_at && previous_secret_ends_at.getTime() > sharedNow();
  return [secret_hash, overlaps && previous_secret_hash].filter((hash) => typeof hash === 'string');
}
