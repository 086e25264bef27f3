/** Holder of a token, as `GET /me` shows it. */
export interface Profile {
  id: string;
  account_id: string;
  username: string;
  name: string;
  biography: string;
  website: string | null;
  picture_url: string | null;
  followers_count: number;
  following_count: number;
  posts_count: number;
  created_at: string;
  updated_at: string;
}

/** Fields of a profile that the account which owns it sets. */
export type ProfileInput = Omit<Profile, 'id' | 'account_id' | 'created_at' | 'updated_at'>;

/** The fields that `GET /me` knows, in the order of the documentation. */
export const PROFILE_FIELDS = [
  'id',
  'username',
  'name',
  'biography',
  'website',
  'picture_url',
  'followers_count',
  'following_count',
  'posts_count',
  'created_at',
  'updated_at',
] as const satisfies readonly (keyof Profile)[];

export type ProfileField = (typeof PROFILE_FIELDS)[number];

/** Response of `GET /me` where no fields are named. */
export const DEFAULT_PROFILE_FIELDS: readonly ProfileField[] = ['id', 'username', 'name'];

/**
 * The id of an account's own profile: the one behind its API keys and client-credentials tokens. It is the account's id
 * under another prefix, so that it needs no look-up.
 */
export function ownProfileId(accountId: string): string {
  return accountId.replace(/^acct_/, 'prof_');
}
