import { createHash } from 'node:crypto';

/** Bytes of a hash that are kept: as many as a number holds exactly. Of a million ids two are alike with a chance of 1 in 500. */
const HASH_BYTES = 6;

/** Deliveries that the ledger has, in some 40 bytes each. Two that are taken for one hide at most that one is missing there. */
export class HeldDeliveries {
  private readonly hashes = new Set<number>();

  add(id: string): void {
    this.hashes.add(hashOf(id));
  }

  has(id: string): boolean {
    return this.hashes.has(hashOf(id));
  }
}

function hashOf(id: string): number {
  return createHash('sha256').update(id).digest().readUIntBE(0, HASH_BYTES);
}
