import { createHash } from 'node:crypto';

/** SHA-256 of a payload's bytes, hexadecimal. */
export function hashPayload(payload: string): string {
  return createHash('sha256').update(payload).digest('hex');
}
