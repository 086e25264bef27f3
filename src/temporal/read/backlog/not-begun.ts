import { UNITS } from '../../../domain/basics/duration.js';
import { idsBeginAt } from '../../../domain/basics/ids.js';
import type { RowSearch, WithoutRow } from '../../../domain/records/row-search.js';
import { sharedNow } from '../../../domain/time/shared-time.js';

/** Events that are looked at together, and how far back, milliseconds. */
const LOOKED_AT = 200;
const LOOKED_BACK_MS = UNITS.d;
/** The search ends after this many looks in a row that find nothing, however few events they covered. */
const MAX_LOOKS = 10;
/** Sorts behind the id of every event. */
const BEHIND_ALL = '~';

/**
 * Deliveries that have been accepted and have no row yet, the latest first: back to where all of some events have one.
 * Deliveries start oldest first, so earlier events rarely lack a row.
 *
 * @param accountId absent: of all accounts
 */
export async function* notBegun(
  rows: Pick<RowSearch, 'withoutRows'>,
  accountId: string | undefined,
): AsyncIterable<WithoutRow[]> {
  let begun = 0;
  let looks = 0;
  for await (const { found, looked } of everyWithoutRow(rows, accountId, sharedNow() - LOOKED_BACK_MS)) {
    // Few events with very many deliveries fit into one look, so one that has begun says little.
    begun = found.length === 0 ? begun + looked : 0;
    looks = found.length === 0 ? looks + 1 : 0;
    if (begun >= LOOKED_AT || looks >= MAX_LOOKS) return;
    if (found.length > 0) yield found;
  }
}

/**
 * All deliveries that have no row, some events at once, the latest first. An item is empty where all of them have one.
 *
 * @param accountId absent: of all accounts
 * @param since when the oldest event was accepted that is looked at, milliseconds since the epoch
 */
export async function* everyWithoutRow(
  rows: Pick<RowSearch, 'withoutRows'>,
  accountId: string | undefined,
  since: number,
): AsyncIterable<{ found: WithoutRow[]; looked: number }> {
  const from = idsBeginAt('event', since);
  for (let until: string | undefined = BEHIND_ALL; until; ) {
    const { last, ...some } = await rows.withoutRows(accountId, { from, until }, LOOKED_AT);
    yield some;
    until = last;
  }
}
