import { type Connection, type Model, Schema } from 'mongoose';
import { ownProfileId, type Profile, type ProfileInput } from '../../domain/access/profile.js';
import { newId } from '../../domain/basics/ids.js';
import { ShortCache } from '../mongo/short-cache.js';

/** A profile, and the number of times it has been written: its version for `ETag` and `If-Match`. */
export interface StoredProfile {
  profile: Profile;
  revision: number;
}

interface ProfileDocument extends ProfileInput {
  _id: string;
  account_id: string;
  revision: number;
  created_at: Date;
  updated_at: Date;
}

const schema = new Schema<ProfileDocument>(
  {
    _id: String,
    account_id: { type: String, required: true },
    username: { type: String, required: true },
    name: String,
    biography: String,
    website: String,
    picture_url: String,
    followers_count: { type: Number, required: true },
    following_count: { type: Number, required: true },
    posts_count: { type: Number, required: true },
    revision: { type: Number, required: true },
    created_at: { type: Date, required: true },
    updated_at: { type: Date, required: true },
  },
  { versionKey: false },
);
schema.index({ account_id: 1, _id: 1 });

/** A change made by another process is seen after this long at the latest, milliseconds. */
const CACHE_MS = 1_000;

export class ProfileRepository {
  private readonly model: Model<ProfileDocument>;
  private readonly cache = new ShortCache<StoredProfile | undefined>(CACHE_MS);

  constructor(connection: Connection) {
    this.model = connection.model<ProfileDocument>('profile', schema, 'profiles');
  }

  async create(accountId: string, input: ProfileInput, id = newId('profile')): Promise<StoredProfile> {
    const now = new Date();
    const document = {
      ...input,
      _id: id,
      account_id: accountId,
      revision: 1,
      created_at: now,
      updated_at: now,
    };
    await this.model.create(document);
    this.cache.forget(id);
    return toStored(document);
  }

  /** Makes the profile that stands behind an account's own keys. */
  createOwn(accountId: string, name: string): Promise<StoredProfile> {
    const counts = { followers_count: 0, following_count: 0, posts_count: 0 };
    const texts = {
      username: accountId.toLowerCase(),
      name,
      biography: '',
      website: null,
      picture_url: null,
    };
    return this.create(accountId, { ...texts, ...counts }, ownProfileId(accountId));
  }

  /** One profile of an account; `undefined` if the account has none with that id. */
  async get(accountId: string, profileId: string): Promise<StoredProfile | undefined> {
    const stored = await this.find(profileId);
    return stored?.profile.account_id === accountId ? stored : undefined;
  }

  /** A profile of any account: for logins, which learn the account from it. */
  find(profileId: string): Promise<StoredProfile | undefined> {
    return this.cache.get(profileId, async () => {
      const document = await this.model.findById(profileId).lean();
      return document ? toStored(document) : undefined;
    });
  }

  /** A profile as it is now, past the cache: what `If-Match` is compared with. */
  fresh(accountId: string, profileId: string): Promise<StoredProfile | undefined> {
    this.cache.forget(profileId);
    return this.get(accountId, profileId);
  }

  /** Profiles of an account, oldest first, after the one named. */
  async list(accountId: string, limit: number, after?: string): Promise<StoredProfile[]> {
    const documents = await this.model
      .find({ account_id: accountId, ...(after !== undefined && { _id: { $gt: after } }) })
      .sort({ _id: 1 })
      .limit(limit)
      .lean();
    return documents.map(toStored);
  }

  /**
   * Replaces what the account sets.
   *
   * @param revision the version that the caller has seen
   * @returns `undefined` where there is no such profile in that version
   */
  async replace(
    accountId: string,
    profileId: string,
    input: ProfileInput,
    revision: number,
  ): Promise<StoredProfile | undefined> {
    const document = await this.model
      .findOneAndUpdate(
        { _id: profileId, account_id: accountId, revision },
        { $set: { ...input, updated_at: new Date() }, $inc: { revision: 1 } },
        { returnDocument: 'after' },
      )
      .lean();
    this.cache.forget(profileId);
    return document ? toStored(document) : undefined;
  }

  /** @returns whether there was one in that version */
  async delete(accountId: string, profileId: string, revision: number): Promise<boolean> {
    const { deletedCount } = await this.model.deleteOne({ _id: profileId, account_id: accountId, revision });
    this.cache.forget(profileId);
    return deletedCount > 0;
  }
}

function toStored({ _id, revision, created_at, updated_at, ...rest }: ProfileDocument): StoredProfile {
  return {
    revision,
    profile: {
      id: _id,
      account_id: rest.account_id,
      username: rest.username,
      name: rest.name ?? '',
      biography: rest.biography ?? '',
      website: rest.website ?? null,
      picture_url: rest.picture_url ?? null,
      followers_count: rest.followers_count,
      following_count: rest.following_count,
      posts_count: rest.posts_count,
      created_at: created_at.toISOString(),
      updated_at: updated_at.toISOString(),
    },
  };
}
