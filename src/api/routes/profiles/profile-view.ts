import { z } from 'zod';
import type { StoredProfile } from '../../../models/access/profiles.js';
import { timeSchema as time } from '../../http/schemas.js';

export const profileSchema = z
  .object({
    id: z.string(),
    account_id: z.string(),
    username: z.string(),
    name: z.string(),
    biography: z.string(),
    website: z.string().nullable(),
    picture_url: z.string().nullable(),
    followers_count: z.int().min(0),
    following_count: z.int().min(0),
    posts_count: z.int().min(0),
    created_at: time,
    updated_at: time,
  })
  .meta({
    id: 'Profile',
    examples: [
      {
        id: 'prof_01M7Y6GW4KS6J1CRXD65YC46K4',
        account_id: 'acct_01M7Y6GW4KS6J1CRXD65YC46K4',
        username: 'ada',
        name: 'Ada Lovelace',
        biography: '',
        website: 'https://example.com/ada',
        picture_url: null,
        followers_count: 1815,
        following_count: 0,
        posts_count: 0,
        created_at: '2026-11-21T12:00:00.000Z',
        updated_at: '2026-11-21T12:00:00.000Z',
      },
    ],
  });

/** A profile's entity tag: it changes with every write, and is never that of another profile at the same address (`/me`). */
export function profileEtag({ profile, version }: StoredProfile): string {
  return `"${profile.id}.${version}"`;
}
