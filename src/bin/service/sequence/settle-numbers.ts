import { toRanges } from '../../../domain/sequence/ranges.js';
import { SEQUENCE } from '../../../domain/sequence/sequence.js';
import { sharedNow } from '../../../domain/time/shared-time.js';
import type { Servers } from '../servers.js';

/**
 * Finds which numbers events have of the blocks of processes that were killed, and declares the others void, once
 * nobody can use them any more.
 *
 * @param now as if it were this time @returns how many blocks there were
 */
export async function settleNumbers(
  { database: { sequences, archive } }: Pick<Servers, 'database'>,
  now = sharedNow(),
): Promise<number> {
  let settled = 0;
  for await (const block of sequences.dead(new Date(now - SEQUENCE.settleAfterMs))) {
    const { account_id, first, last } = block;
    const numbers = await archive.sequences(account_id, block, last - first + 1);
    await sequences.settle(block, toRanges(numbers));
    settled += 1;
  }
  return settled;
}
