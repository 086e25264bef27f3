import type { StoredProfile } from '../../../models/access/profiles.js';

/** A profile's entity tag: it changes with every write, and is never that of another profile at the same address (`/me`). */
export function profileEtag({ profile, revision }: StoredProfile): string {
  return `"${profile.id}.${revision}"`;
}
