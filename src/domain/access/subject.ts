import { createHash } from 'node:crypto';

/** Characters of a digest that tell two passwords of a person apart. */
const VERSION_LENGTH = 22;

/**
 * Whom a session, a grant or a token of a person stands for: the profile, and the password that the person logged in
 * with. A new password or a new login makes another subject, so that whatever names the old one has ended, without a
 * list of what that is.
 *
 * @param passwordHash the stored hash, which has a salt of its own: equal passwords give different subjects
 */
export function subjectOf(profileId: string, passwordHash: string): string {
  const version = createHash('sha256').update(passwordHash).digest('base64url').slice(0, VERSION_LENGTH);
  return `${profileId}.${version}`;
}

/** The profile of a subject. */
export function profileOfSubject(subject: string): string {
  return subject.split('.', 1)[0] ?? '';
}
