/** State of a leaf of a log: a byte for each. */
export type Mark = 0 | 1 | 2 | 3 | 4 | 5 | 6;

/** Nothing: no segment names it. */
export const UNKNOWN = 0;
/** Its record is there. */
export const RECORDED = 1;
/** Its record was replaced by that of a later run. */
export const REPLACED = 2;
/** The same record has another leaf as well. */
export const AGAIN = 3;
/** Another record stands in the place of its record. */
export const ALTERED = 4;

/** A segment names it. */
export const NAMED = 5;
/** A segment names it that is older than records are kept at least. */
export const OLD = 6;
const OPEN: readonly Mark[] = [UNKNOWN, NAMED, OLD];

/** Marks on the leaves of a log of a size. Numbers outside of it are left alone. */
export class LeafMarks {
  private readonly marks: Uint8Array;

  constructor(size: number) {
    this.marks = new Uint8Array(size);
  }

  has(leaf: number): boolean {
    return this.marks[leaf] !== undefined;
  }

  /**
   * Marks a leaf. A record that is there replaces any other mark; otherwise the first mark that explains the leaf
   * stays.
   */
  set(leaf: number, mark: Exclude<Mark, 0>): void {
    if (this.has(leaf) && (mark === RECORDED || OPEN.includes(this.get(leaf)))) this.marks[leaf] = mark;
  }

  get(leaf: number): Mark {
    return (this.marks[leaf] ?? UNKNOWN) as Mark;
  }

  count(mark: Mark): number {
    return this.marks.reduce((sum, one) => sum + (one === mark ? 1 : 0), 0);
  }

  /** Numbers of the leaves with one of some marks, in order. @param most of them */
  *with(marks: readonly Mark[], most = Number.POSITIVE_INFINITY): Iterable<number> {
    for (let leaf = 0, found = 0; leaf < this.marks.length && found < most; leaf += 1)
      if (marks.includes(this.get(leaf))) {
        found += 1;
        yield leaf;
      }
  }
}
