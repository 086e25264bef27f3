import { toRanges } from '../../../domain/sequence/ranges.js';
import { SEQUENCE } from '../../../domain/sequence/sequence.js';
import { sharedNow } from '../../../domain/time/shared-time.js';
import type { Servers } from '../servers.js';

/** Events that are looked at for one block: more than one for each number are not what was written, or a mistake. */
const MAX_EVENTS = 10 * SEQUENCE.largestBlock;

/**
 * Finds which numbers events have of the blocks of processes that were killed, and declares the others void, once
 * nobody can use them any more.
 *
 * @param now as if it were this time @returns how many blocks there were
 */
export async function settleNumbers(
  { database: { events, sequences } }: Pick<Servers, 'database'>,
  now = sharedNow(),
): Promise<number> {
  // Batches whose storing is decided are completed first, so that their numbers count as used.
  await events.completeBatches();
  let settled = 0;
  for await (const block of sequences.dead(new Date(now - SEQUENCE.settleAfterMs))) {
    const { account_id } = block;
    // One that somebody has altered may be an event all the same: its number is not void, whatever it is.
    const found = await sequences.events.find(account_id, block, MAX_EVENTS);
    await sequences.settle(block, toRanges(found.map(({ sequence }) => sequence)));
    settled += 1;
  }
  return settled;
}
