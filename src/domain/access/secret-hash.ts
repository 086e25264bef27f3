import { createHash, timingSafeEqual } from 'node:crypto';

/**
 * The form in which a secret of 256 random bits is stored: its SHA-256, hexadecimal. No slow hash is needed for those.
 */
export function hashSecret(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

/** Whether a secret is the one that was hashed, in constant time. */
export function matchesHash(secret: string, hash: string): boolean {
  const given = Buffer.from(hashSecret(secret));
  const kept = Buffer.from(hash);
  return given.length === kept.length && timingSafeEqual(given, kept);
}
