import { type Connection, type Model, Schema } from 'mongoose';
import { hashApiKey, newApiKey, type Scope } from '../domain/api-key.js';
import { newId } from '../domain/ids.js';
import { ShortCache } from './short-cache.js';

/** An API key, as far as it can be shown after it was made. */
export interface ApiKey {
  id: string;
  account_id: string;
  name: string;
  scopes: Scope[];
  created_at: string;
}

interface ApiKeyDocument {
  /** SHA-256 of the key: a look-up by the caller's key is one by `_id`. */
  _id: string;
  key_id: string;
  account_id: string;
  name: string;
  scopes: Scope[];
  created_at: Date;
}

const schema = new Schema<ApiKeyDocument>(
  {
    _id: String,
    key_id: { type: String, required: true, index: true },
    account_id: { type: String, required: true, index: true },
    name: { type: String, required: true },
    scopes: { type: [String], required: true },
    created_at: { type: Date, required: true },
  },
  { versionKey: false },
);

/** A key that was taken away may be honoured this long, milliseconds. */
const CACHE_MS = 2_000;

export class ApiKeyRepository {
  private readonly model: Model<ApiKeyDocument>;
  private readonly cache = new ShortCache<ApiKey | undefined>(CACHE_MS);

  constructor(connection: Connection) {
    this.model = connection.model<ApiKeyDocument>('api_key', schema, 'api_keys');
  }

  /** Makes a key. The key itself is in the result and nowhere else: only its hash is kept. */
  async create(
    accountId: string,
    name: string,
    scopes: readonly Scope[],
  ): Promise<{ key: string; api_key: ApiKey }> {
    const key = newApiKey();
    const document: ApiKeyDocument = {
      _id: hashApiKey(key),
      key_id: newId('api_key'),
      account_id: accountId,
      name,
      scopes: [...scopes],
      created_at: new Date(),
    };
    await this.model.create(document);
    return { key, api_key: toApiKey(document) };
  }

  /** The key that a caller sent; `undefined` where there is none such. */
  find(key: string): Promise<ApiKey | undefined> {
    const hash = hashApiKey(key);
    return this.cache.get(hash, async () => {
      const document = await this.model.findById(hash).lean();
      return document ? toApiKey(document) : undefined;
    });
  }
}

function toApiKey(document: ApiKeyDocument): ApiKey {
  return {
    id: document.key_id,
    account_id: document.account_id,
    name: document.name,
    scopes: document.scopes,
    created_at: document.created_at.toISOString(),
  };
}
