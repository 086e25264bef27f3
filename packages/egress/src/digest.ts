import { hash } from 'node:crypto';

/** SHA-256 of what was read of a body, hexadecimal; `undefined` if that is nothing. */
export function digestOf(read: Buffer): string | undefined {
  return read.length === 0 ? undefined : hash('sha256', read);
}
