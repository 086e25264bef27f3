import { RecordAlteredError } from '../../../domain/records/record-altered.js';
import type { LostNumbers } from '../../../domain/sequence/lost-numbers.js';
import {
  countIn,
  missingIn,
  type NumberRange,
  sharedWith,
  toRanges,
  twiceIn,
} from '../../../domain/sequence/ranges.js';
import type { VoidNumbers } from '../../../domain/sequence/sequence.js';
import { sharedNow } from '../../../domain/time/shared-time.js';
import { CLOCKS_DIFFER_MS } from '../delivery-view.js';

/** Sources of a statement about completeness. */
export interface NumberSources {
  numbersOf(
    accountId: string,
  ): Promise<{ next: number; open: NumberRange[]; lost: LostNumbers[] } | undefined>;
  events: {
    find(
      accountId: string,
      of: NumberRange | { from: Date; to: Date },
      limit: number,
    ): Promise<{ id: string; sequence: number; wrong: string | undefined }[]>;
  };
  voids: {
    within(
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
  /** Numbers that may have been given, of which nothing is kept: the database was restored, or somebody altered it. */
  lost: LostNumbers[];
  /** Numbers that neither events have nor anything else. */
  missing: NumberRange[];
  /** Numbers that were declared void, and that events have all the same. */
  contradicted: NumberRange[];
  /** Numbers that several events have. */
  twice: NumberRange[];
}

/** Too many events for one response. */
export class TooManyNumbersError extends Error {}

const NOTHING: Completeness = {
  range: undefined,
  events: 0,
  ...{ voids: [], open: [], lost: [], missing: [], contradicted: [], twice: [] },
};

/**
 * Finds numbers that are missing among those of the events that an account posted in a period: from the lowest to the
 * highest of them. Without a beginning from the first number of all, without an end up to the last that was given to a
 * process.
 *
 * @param most numbers at most
 * @throws TooManyNumbersError
 * @throws RecordAlteredError if the sequence, or an event with one of the numbers, is not what was written
 */
export async function completenessOf(
  sequences: NumberSources,
  accountId: string,
  { from, to }: { from?: Date | undefined; to?: Date | undefined },
  most: number,
): Promise<Completeness> {
  const known = await sequences.numbersOf(accountId);
  if (!known) return NOTHING;
  const numbered = async (of: NumberRange | { from: Date; to: Date }): Promise<number[]> => {
    const found = await sequences.events.find(accountId, of, most + 1);
    if (found.length > most) throw new TooManyNumbersError();
    const altered = found.find(({ wrong }) => wrong !== undefined);
    if (altered?.wrong) throw new RecordAlteredError(altered.id, altered.wrong);
    return found.map(({ sequence }) => sequence);
  };
  const period = { from: from ?? new Date(0), to: to ?? new Date(sharedNow() + CLOCKS_DIFFER_MS) };
  const ofPeriod = from || to ? toRanges(await numbered(period)) : [];
  const first = from ? ofPeriod[0]?.first : 1;
  const last = to ? ofPeriod.at(-1)?.last : known.next - 1;
  if (first === undefined || last === undefined || last < first) return NOTHING;
  const range = { first, last };
  const within = <R extends NumberRange>(ranges: readonly R[]): R[] =>
    ranges
      .filter((one) => one.last >= first && one.first <= last)
      .map((one) => ({ ...one, first: Math.max(one.first, first), last: Math.min(one.last, last) }));
  const voids = await sequences.voids.within(accountId, range);
  // Between those of the period there can be events that were accepted before or after it.
  const numbers = await numbered(range);
  const events = toRanges(numbers);
  const accounted = [...events, ...voids];
  const open = within(known.open).flatMap((one) => missingIn(one, accounted));
  const lost = within(known.lost).flatMap((one) =>
    missingIn(one, [...accounted, ...open]).map((left) => ({ ...one, ...left })),
  );
  return {
    ...{ range, events: countIn(events), voids, open, lost },
    missing: missingIn(range, [...accounted, ...open, ...lost]),
    contradicted: voids.flatMap((one) => sharedWith(one, events)),
    twice: toRanges(twiceIn(numbers)),
  };
}
