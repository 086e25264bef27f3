import { toRanges } from '../../../domain/sequence/ranges.js';
import { SEQUENCE } from '../../../domain/sequence/sequence.js';
import { sharedNow } from '../../../domain/time/shared-time.js';
import { CLOCKS_DIFFER_MS } from '../../../temporal/read/delivery-view.js';
import { ledgerNumbers } from '../../../temporal/read/sequence/completeness.js';
import type { Servers } from '../servers.js';

/**
 * Finds which numbers events have of the blocks of processes that were killed, and declares the others void, once
 * nobody can use them any more.
 *
 * @param now as if it were this time @returns how many blocks there were
 */
export async function settleNumbers(
  { database: { sequences, archive }, temporal: { client } }: Pick<Servers, 'database' | 'temporal'>,
  now = sharedNow(),
): Promise<number> {
  let settled = 0;
  for await (const block of sequences.dead(new Date(now - SEQUENCE.settleAfterMs))) {
    const { account_id, first, last, reserved_at, until } = block;
    const numbers = new Set(await archive.sequences(account_id, block, last - first + 1));
    const period = {
      from: new Date(reserved_at.getTime() - CLOCKS_DIFFER_MS),
      to: new Date(until.getTime() + SEQUENCE.settleAfterMs),
    };
    for await (const some of ledgerNumbers(client, account_id, period))
      for (const number of some) numbers.add(number);
    await sequences.settle(block, toRanges(numbers));
    settled += 1;
  }
  return settled;
}
