import type { Connection } from 'mongoose';
import { ownProfileId, type Profile, type ProfileInput } from '../../domain/access/profile.js';
import { newId } from '../../domain/basics/ids.js';
import type { Change, Origin } from '../../domain/change/change.js';
import { sharedDate } from '../../domain/time/shared-time.js';
import type { Timings } from '../../domain/timings.js';
import { recordedFields, toChange } from '../change/change-document.js';
import type { ChangeRepository } from '../change/changes.js';
import { Recorded } from '../change/recorded.js';
import { collection, type DocumentIn, may, must } from '../mongo/collection.js';
import { ShortCache } from '../mongo/short-cache.js';

/** A profile, and its version for `ETag` and `If-Match`. */
export interface StoredProfile {
  profile: Profile;
  version: number;
}

/** Tells of changes of profiles. @returns `false`: it cannot be done now, and is tried again */
export type ProfileTeller = (accountId: string, changes: readonly Change[]) => Promise<boolean>;

/** Changes of a profile of which nobody has been able to tell yet, above which it cannot be changed again. */
export const MAX_UNTOLD = 100;

const profiles = collection(
  'profiles',
  {
    _id: must(String),
    account_id: must(String),
    username: must(String),
    name: may(String),
    biography: may(String),
    website: may(String),
    picture_url: may(String),
    followers_count: must(Number),
    following_count: must(Number),
    posts_count: must(Number),
    created_at: must(Date),
    updated_at: must(Date),
    ...recordedFields,
  },
  { indexes: [{ account_id: 1, _id: 1 }] },
);
type ProfileDocument = DocumentIn<typeof profiles>;

export class ProfileRepository {
  private readonly documents: Recorded<ProfileDocument>;
  private readonly cache: ShortCache<StoredProfile | undefined>;
  private teller: ProfileTeller | undefined;

  constructor(connection: Connection, changes: ChangeRepository, { resource_lifetime_ms }: Timings) {
    this.cache = new ShortCache(resource_lifetime_ms);
    const show = (document: ProfileDocument) => toStored(document).profile;
    this.documents = new Recorded(profiles(connection), changes, {
      ...{ kind: 'profile', show },
      tell: async (documents) => {
        const news = documents.filter(({ action }) => action === 'updated');
        const [first] = news;
        return !first || ((await this.teller?.(first.account_id, news.map(toChange))) ?? false);
      },
    });
  }

  /** Has changes of profiles told by a function. Without one they wait for a process that has one. */
  tellBy(teller: ProfileTeller): void {
    this.teller = teller;
  }

  /** Whether nobody was told yet of a change of a profile, which is not deleted. */
  isUntold(accountId: string, profileId: string, changeId: string): Promise<boolean> {
    return this.documents.isUntold({ _id: profileId, account_id: accountId }, changeId);
  }

  /** Has nobody told of the changes of a profile that were not told of yet. */
  keepUntold(accountId: string, profileId: string): Promise<void> {
    return this.documents.keepUntold({ _id: profileId, account_id: accountId });
  }

  async create(
    accountId: string,
    input: ProfileInput,
    origin: Origin,
    id = newId('profile'),
  ): Promise<StoredProfile> {
    const now = sharedDate();
    const document = await this.documents.create(
      { ...input, _id: id, account_id: accountId, created_at: now, updated_at: now },
      origin,
    );
    this.cache.forget(id);
    return toStored(document);
  }

  /** Makes the profile that an account's own keys use. */
  createOwn(accountId: string, name: string, origin: Origin): Promise<StoredProfile> {
    const texts = {
      username: accountId.toLowerCase(),
      name,
      biography: '',
      website: null,
      picture_url: null,
    };
    const counts = { followers_count: 0, following_count: 0, posts_count: 0 };
    return this.create(accountId, { ...texts, ...counts }, origin, ownProfileId(accountId));
  }

  /** One profile of an account; `undefined` if the account has none with that id. */
  async get(accountId: string, profileId: string): Promise<StoredProfile | undefined> {
    const stored = await this.find(profileId);
    return stored?.profile.account_id === accountId ? stored : undefined;
  }

  /** A profile of any account, for logins, which get the account from the profile. */
  find(profileId: string): Promise<StoredProfile | undefined> {
    return this.cache.get(profileId, async () => {
      const document = await this.documents.findOne({ _id: profileId });
      return document ? toStored(document) : undefined;
    });
  }

  /** A profile read from the database, not from the cache, for comparison with `If-Match`. */
  fresh(accountId: string, profileId: string): Promise<StoredProfile | undefined> {
    this.cache.forget(profileId);
    return this.get(accountId, profileId);
  }

  /** Profiles of an account, oldest first, after the one named. */
  async list(accountId: string, limit: number, after?: string): Promise<StoredProfile[]> {
    return (await this.documents.page({ account_id: accountId }, limit, after)).map(toStored);
  }

  /**
   * Replaces what the account sets.
   *
   * @param version the version that the caller has seen
   * @returns `undefined` if the account has no such profile in that version; `untold` if it has changed too often since
   * anybody could tell of its changes
   */
  async replace(
    accountId: string,
    profileId: string,
    input: ProfileInput,
    version: number,
    origin: Origin,
  ): Promise<StoredProfile | 'untold' | undefined> {
    const ofProfile = { _id: profileId, account_id: accountId };
    let isUntold = false;
    const changed = await this.documents.change(ofProfile, origin, (before, now) => {
      isUntold = (before.unrecorded?.length ?? 0) >= MAX_UNTOLD;
      if (isUntold || before.version !== version) return undefined;
      return { action: 'updated', set: { ...input, updated_at: now } };
    });
    this.cache.forget(profileId);
    if (isUntold) return 'untold';
    return changed && toStored(changed);
  }

  /** @returns whether the account had it in that version */
  async delete(accountId: string, profileId: string, version: number, origin: Origin): Promise<boolean> {
    const ofProfile = { _id: profileId, account_id: accountId };
    const isDeleted = await this.documents.delete(ofProfile, origin, (before) => before.version === version);
    this.cache.forget(profileId);
    return isDeleted;
  }
}

function toStored({ _id, version, created_at, updated_at, ...rest }: ProfileDocument): StoredProfile {
  return {
    version,
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
