import { LRUCache } from 'lru-cache';
import { type Connection, type Model, Schema } from 'mongoose';
import { API_KEY, type Scope } from '../../domain/access/api-key.js';
import { hashSecret } from '../../domain/access/secret-hash.js';
import { roomFor } from '../../domain/basics/bounded-memory.js';
import { newId } from '../../domain/basics/ids.js';
import type { Origin } from '../../domain/change/change.js';
import { TIMINGS, type Timings } from '../../domain/timings.js';
import type { ChangeRepository } from '../change/changes.js';
import { Recorded } from '../change/recorded.js';
import { type RecordedFields, recordedFields } from '../change/recorded-fields.js';
import { ShortCache } from '../mongo/short-cache.js';

/** An API key as it can be shown after it was made: without the key itself. */
export interface ApiKey {
  id: string;
  account_id: string;
  name: string;
  scopes: Scope[];
  /** The profile that `GET /me` answers for this key; absent for the account's own. */
  profile_id?: string;
  created_at: string;
  expires_at?: string;
  /** To within a minute. */
  last_used_at?: string;
  revoked_at?: string;
}

/** What a caller sets when it makes a key. */
export interface ApiKeyOptions {
  expires_at?: Date;
  profile_id?: string;
}

interface ApiKeyDocument extends RecordedFields {
  /** SHA-256 of the key: a look-up by the caller's key is one by `_id`. */
  _id: string;
  key_id: string;
  account_id: string;
  name: string;
  scopes: Scope[];
  profile_id?: string | null;
  created_at: Date;
  expires_at?: Date | null;
  last_used_at?: Date | null;
  revoked_at?: Date | null;
}

const schema = new Schema<ApiKeyDocument>(
  {
    _id: String,
    key_id: { type: String, required: true, index: true },
    account_id: { type: String, required: true },
    name: { type: String, required: true },
    scopes: { type: [String], required: true },
    profile_id: String,
    created_at: { type: Date, required: true },
    expires_at: Date,
    last_used_at: Date,
    revoked_at: Date,
    ...recordedFields,
  },
  { versionKey: false },
);
schema.index({ account_id: 1, key_id: 1 });

/** How exact `last_used_at` is, milliseconds: one update per key, process and minute. */
const USE_PRECISION_MS = 60_000;
/** Keys whose use is remembered; of more than these, some are noted more often. */
const MAX_NOTED = 10_000;

export class ApiKeyRepository {
  private readonly model: Model<ApiKeyDocument>;
  private readonly documents: Recorded<ApiKeyDocument>;
  /** A revoked key may still be accepted for as long as it is remembered. */
  private readonly cache: ShortCache<ApiKey | undefined>;
  private readonly noted = new LRUCache<string, true>({ ...roomFor(MAX_NOTED), ttl: USE_PRECISION_MS });

  constructor(connection: Connection, changes: ChangeRepository, { token_lifetime_ms }: Timings = TIMINGS) {
    this.cache = new ShortCache(token_lifetime_ms);
    this.model = connection.model<ApiKeyDocument>('api_key', schema, 'api_keys');
    this.documents = new Recorded(this.model, changes, {
      kind: 'api_key',
      idOf: ({ key_id }) => key_id,
      accountField: 'account_id',
      show: (document) => {
        const { last_used_at: _, ...key } = toApiKey(document);
        return key;
      },
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
      created_at: new Date(),
      ...options,
    };
    return { key, api_key: toApiKey(await this.documents.create(document, origin)) };
  }

  /** The key that a caller sent, even if it is expired or revoked; `undefined` if there is no such key. */
  async find(key: string): Promise<ApiKey | undefined> {
    // Mistyped: the database need not be asked.
    return API_KEY.isOne(key) ? this.ofHash(hashSecret(key)) : undefined;
  }

  /** The key of a hash, as {@link find}: for who has been shown the key before, and does not keep it. */
  ofHash(hash: string): Promise<ApiKey | undefined> {
    return this.cache.get(hash, async () => {
      const document = await this.documents.findOne({ _id: hash });
      return document ? toApiKey(document) : undefined;
    });
  }

  /** Keys of an account after the one named, oldest first, including revoked ones. */
  async list(accountId: string, limit: number, after?: string): Promise<ApiKey[]> {
    const documents = await this.documents
      .find({ account_id: accountId, ...(after !== undefined && { key_id: { $gt: after } }) })
      .sort({ key_id: 1 })
      .limit(limit)
      .lean();
    return documents.map(toApiKey);
  }

  /** One key of an account, even if it is expired; `undefined` if the account has no such key or it was revoked. */
  async get(accountId: string, keyId: string): Promise<ApiKey | undefined> {
    const document = await this.findUnrevoked(accountId, keyId);
    return document && toApiKey(document);
  }

  /**
   * Revokes a key for good; it stays in the list. Processes may accept it for two more seconds.
   *
   * @returns whether the account had such a key that was not revoked yet
   */
  async revoke(accountId: string, keyId: string, origin: Origin): Promise<boolean> {
    const ofKey = { account_id: accountId, key_id: keyId };
    const revoked = await this.documents.change(ofKey, origin, ({ revoked_at }, now) =>
      revoked_at ? undefined : { action: 'revoked', set: { revoked_at: now } },
    );
    if (!revoked) return false;
    this.cache.forget(revoked.after._id);
    return true;
  }

  /** Revokes every key of an account. @returns how many */
  async revokeAll(accountId: string, origin: Origin): Promise<number> {
    const keys = await this.documents.find({ account_id: accountId, revoked_at: null }).lean();
    let revoked = 0;
    for (const { key_id } of keys) if (await this.revoke(accountId, key_id, origin)) revoked += 1;
    return revoked;
  }

  /** Records that a key was used. Rejects if that cannot be written; a request need not wait for it. */
  async noteUse(hash: string, keyId: string): Promise<void> {
    if (this.noted.has(keyId)) return;
    this.noted.set(keyId, true);
    await this.model.updateOne({ _id: hash }, { last_used_at: new Date() });
  }

  private async findUnrevoked(accountId: string, keyId: string): Promise<ApiKeyDocument | undefined> {
    const document = await this.documents.findOne({ account_id: accountId, key_id: keyId });
    return document && !document.revoked_at ? document : undefined;
  }
}

function toApiKey(document: ApiKeyDocument): ApiKey {
  const { profile_id, expires_at, last_used_at, revoked_at } = document;
  return {
    id: document.key_id,
    account_id: document.account_id,
    name: document.name,
    scopes: document.scopes,
    ...(profile_id && { profile_id }),
    created_at: document.created_at.toISOString(),
    ...(expires_at && { expires_at: expires_at.toISOString() }),
    ...(last_used_at && { last_used_at: last_used_at.toISOString() }),
    ...(revoked_at && { revoked_at: revoked_at.toISOString() }),
  };
}
