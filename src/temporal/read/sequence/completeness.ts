import {
  countIn,
  missingIn,
  type NumberRange,
  sharedWith,
  toRanges,
} from '../../../domain/sequence/ranges.js';
import type { VoidNumbers } from '../../../domain/sequence/sequence.js';
import { sharedNow } from '../../../domain/time/shared-time.js';
import { CLOCKS_DIFFER_MS } from '../delivery-view.js';

/** What completeness is told from. */
export interface NumberSources {
  archive: {
    sequences(
      accountId: string,
      of: NumberRange | { from: Date; to: Date },
      limit: number,
    ): Promise<number[]>;
  };
  sequences: {
    numbersOf(accountId: string): Promise<{ next: number; open: NumberRange[] } | undefined>;
    voids(
      accountId: string,
      range: NumberRange,
    ): Promise<(VoidNumbers & { leaf_index: number | undefined })[]>;
  };
}

/** Whether all numbers of a range are accounted for. */
export interface Completeness {
  /** The numbers that were looked at; absent if there are none. */
  range: NumberRange | undefined;
  /** How many of them events have. */
  events: number;
  voids: (VoidNumbers & { leaf_index: number | undefined })[];
  /** Numbers of which it is not known yet whether events have them: a process has them, or had them when it ended. */
  open: NumberRange[];
  /** Numbers that neither events have nor anything else. */
  missing: NumberRange[];
  /** Numbers that were declared void, and that events have all the same. */
  contradicted: NumberRange[];
}

/** Too many events for one response. */
export class TooManyNumbersError extends Error {}

/**
 * Finds numbers that are missing among those of the events that an account posted in a period: from the lowest to the
 * highest of them. Without a beginning from the first number of all, without an end up to the last that was given to a
 * process.
 *
 * @param most numbers at most @throws TooManyNumbersError
 */
export async function completenessOf(
  { archive, sequences }: NumberSources,
  accountId: string,
  { from, to }: { from?: Date | undefined; to?: Date | undefined },
  most: number,
): Promise<Completeness> {
  const nothing = { range: undefined, events: 0, voids: [], open: [], missing: [], contradicted: [] };
  const known = await sequences.numbersOf(accountId);
  if (!known) return nothing;
  const period = { from: from ?? new Date(0), to: to ?? new Date(sharedNow() + CLOCKS_DIFFER_MS) };
  const found = new Set(await archive.sequences(accountId, period, most + 1));
  if (found.size > most) throw new TooManyNumbersError();
  const numbers = toRanges(found);
  const first = from ? numbers[0]?.first : 1;
  const last = to ? numbers.at(-1)?.last : known.next - 1;
  if (first === undefined || last === undefined || last < first) return nothing;
  const range = { first, last };
  const voids = await sequences.voids(accountId, range);
  const open = known.open
    .filter((one) => one.last >= first && one.first <= last)
    .map((one) => ({ first: Math.max(one.first, first), last: Math.min(one.last, last) }));
  // Between them there can be events that were accepted before or after the period.
  const hasGap = missingIn(range, [...numbers, ...voids]).length > 0;
  const others = hasGap ? await archive.sequences(accountId, range, most + 1) : [];
  if (others.length > most) throw new TooManyNumbersError();
  const events = toRanges([...found, ...others]);
  const accounted = [...events, ...voids];
  const unknown = open.flatMap((one) => missingIn(one, accounted));
  const missing = missingIn(range, [...accounted, ...unknown]);
  const contradicted = voids.flatMap((one) => sharedWith(one, events));
  return { range, events: countIn(events), voids, open: unknown, missing, contradicted };
}
