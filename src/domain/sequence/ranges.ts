/** Numbers from one to another, both included. */
export interface NumberRange {
  first: number;
  last: number;
}

/** Numbers as ranges, in order. @param numbers in any order, also several times */
export function toRanges(numbers: Iterable<number>): NumberRange[] {
  const ranges: NumberRange[] = [];
  for (const number of [...new Set(numbers)].sort((a, b) => a - b)) {
    const last = ranges.at(-1);
    if (last && last.last === number - 1) last.last = number;
    else ranges.push({ first: number, last: number });
  }
  return ranges;
}

/** Numbers that are there several times. */
export function twiceIn(numbers: Iterable<number>): Set<number> {
  const [once, twice] = [new Set<number>(), new Set<number>()];
  for (const number of numbers) (once.has(number) ? twice : once).add(number);
  return twice;
}

/** Parts of a range that are in none of others, in order. @param others in any order, and they may overlap */
export function missingIn({ first, last }: NumberRange, others: readonly NumberRange[]): NumberRange[] {
  const missing: NumberRange[] = [];
  let next = first;
  for (const other of [...others].sort((a, b) => a.first - b.first)) {
    if (other.first > last) break;
    if (other.first > next) missing.push({ first: next, last: other.first - 1 });
    next = Math.max(next, other.last + 1);
  }
  if (next <= last) missing.push({ first: next, last });
  return missing;
}

/** Ranges in order, those that overlap as one. */
export function joined(ranges: readonly NumberRange[]): NumberRange[] {
  const all: NumberRange[] = [];
  for (const { first, last } of [...ranges].sort((a, b) => a.first - b.first)) {
    const before = all.at(-1);
    if (before && first <= before.last) before.last = Math.max(before.last, last);
    else all.push({ first, last });
  }
  return all;
}

/** Parts of a range that are in one of others as well, in order. */
export function sharedWith(range: NumberRange, others: readonly NumberRange[]): NumberRange[] {
  return missingIn(range, missingIn(range, others));
}

/** How many numbers there are in ranges that do not overlap. */
export function countIn(ranges: readonly NumberRange[]): number {
  return ranges.reduce((sum, { first, last }) => sum + last - first + 1, 0);
}

/** A range as people read it. */
export function rangeText({ first, last }: NumberRange): string {
  return first === last ? `${first}` : `${first} to ${last}`;
}
