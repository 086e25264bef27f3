import { createHash } from 'node:crypto';

/**
 * Bytes of a hash that are kept: as many as a number holds exactly. In a million texts, the chance of a collision is 1
 * in 500.
 */
const HASH_BYTES = 6;

/**
 * Set of ids, such as those of segments: some 40 bytes each. Two that are taken for one hide at most that one is
 * missing.
 */
export class Held {
  private readonly hashes = new Set<number>();

  add(text: string): void {
    this.hashes.add(hashOf(text));
  }

  has(text: string): boolean {
    return this.hashes.has(hashOf(text));
  }
}

function hashOf(text: string): number {
  return createHash('sha256').update(text).digest().readUIntBE(0, HASH_BYTES);
}
