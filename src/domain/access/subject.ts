import { createHash } from 'node:crypto';

/** Characters of a digest that tell two passwords of a person apart. */
const VERSION_LENGTH = 22;

/**
 * Subject of a person's session, grant or token: the profile, and the password that the person logged in with. A new
 * password or login makes another subject, which ends everything that names the old one.
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
