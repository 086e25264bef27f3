import { LRUCache } from 'lru-cache';
import type { Connection } from 'mongoose';
import { API_KEY, type Scope } from '../../domain/access/api-key.js';
import { hashSecret } from '../../domain/access/secret-hash.js';
import { roomFor } from '../../domain/basics/bounded-memory.js';
import { UNITS } from '../../domain/basics/duration.js';
import { newId } from '../../domain/basics/ids.js';
import { present } from '../../domain/basics/objects.js';
import type { Origin } from '../../domain/change/change.js';
import { sharedDate } from '../../domain/time/shared-time.js';
import type { Timings } from '../../domain/timings.js';
import { recordedFields } from '../change/change-document.js';
import type { ChangeRepository } from '../change/changes.js';
import { collection, type DocumentIn, may, must, withoutNulls } from '../mongo/collection.js';
import { RevocableRepository } from './revocable.js';

/** An API key as it can be shown after it was made: without the key itself. */
export interface ApiKey {
  id: string;
  account_id: string;
  name: string;
  scopes: Scope[];
  /** The profile that `GET /me` answers for this key; absent for the account's own. */
  profile_id?: string;
  /** The session at the desk that it was made in, and ends with. */
  desk_session_id?: string;
  created_at: string;
  expires_at?: string;
  /** To within a minute. */
  last_used_at?: string;
  revoked_at?: string;
}

/** Options of a caller that makes a key. */
export interface ApiKeyOptions {
  expires_at?: Date | undefined;
  profile_id?: string | undefined;
  desk_session_id?: string | undefined;
}

const apiKeys = collection(
  'api_keys',
  {
    _id: must(String),
    key_id: must(String, { index: true }),
    account_id: must(String),
    name: must(String),
    scopes: must<Scope[]>([String]),
    profile_id: may(String),
    desk_session_id: may(String),
    created_at: must(Date),
    expires_at: may(Date),
    last_used_at: may(Date),
    revoked_at: may(Date),
    ...recordedFields,
  },
  { indexes: [{ account_id: 1, key_id: 1 }] },
);
type ApiKeyDocument = DocumentIn<typeof apiKeys>;

export class ApiKeyRepository extends RevocableRepository<ApiKeyDocument, ApiKey> {
  /**
   * So exact is `last_used_at`: one update per key, process and minute. With more keys than this, some are noted more
   * often.
   */
  private readonly noted = new LRUCache<string, true>({ ...roomFor(10_000), ttl: UNITS.m });

  constructor(connection: Connection, changes: ChangeRepository, { token_lifetime_ms }: Timings) {
    super(apiKeys(connection), changes, token_lifetime_ms, {
      kind: 'api_key',
      idField: 'key_id',
      shown: toApiKey,
      inChanges: (document) => toApiKey({ ...document, last_used_at: null }),
    });
  }

  /** Makes a key. The key itself is in the result and nowhere else: only its hash is kept. */
  async create(
    accountId: string,
    name: string,
    scopes: readonly Scope[],
    origin: Origin,
    options: ApiKeyOptions = {},
  ): Promise<{ key: string; api_key: ApiKey }> {
    const key = API_KEY.make();
    const document = {
      _id: hashSecret(key),
      key_id: newId('api_key'),
      account_id: accountId,
      name,
      scopes: [...scopes],
      created_at: sharedDate(),
      ...present(options),
    };
    return { key, api_key: toApiKey(await this.documents.create(document, origin)) };
  }

  /** The key that a caller sent, even if it is expired or revoked; `undefined` if there is no such key. */
  async find(key: string): Promise<ApiKey | undefined> {
    // Mistyped: the database need not be asked.
    return API_KEY.isOne(key) ? this.ofHash(hashSecret(key)) : undefined;
  }

  /** One key of an account, even if it is expired; `undefined` if the account has no such key or it was revoked. */
  override async get(accountId: string, keyId: string): Promise<ApiKey | undefined> {
    const key = await super.get(accountId, keyId);
    return key?.revoked_at ? undefined : key;
  }

  /** Records that a key was used. Rejects if that cannot be written; a request need not wait for it. */
  async noteUse(hash: string, keyId: string): Promise<void> {
    if (this.noted.has(keyId)) return;
    this.noted.set(keyId, true);
    await this.model.updateOne({ _id: hash }, { last_used_at: sharedDate() });
  }
}

function toApiKey(document: ApiKeyDocument): ApiKey {
  const { profile_id, desk_session_id, expires_at, last_used_at, revoked_at } = document;
  return {
    id: document.key_id,
    account_id: document.account_id,
    name: document.name,
    scopes: document.scopes,
    ...withoutNulls({ profile_id, desk_session_id }),
    created_at: document.created_at.toISOString(),
    ...withoutNulls({
      expires_at: expires_at?.toISOString(),
      last_used_at: last_used_at?.toISOString(),
      revoked_at: revoked_at?.toISOString(),
    }),
  };
}
