/** What is known of the leaves of a log: a byte for each. */
export type Mark = 0 | 1 | 2 | 3 | 4;

/** Nothing. */
export const UNKNOWN = 0;
/** Its record is there. */
export const RECORDED = 1;
/** Its record was replaced by that of a later run. */
export const REPLACED = 2;
/** The same record has another leaf as well. */
export const AGAIN = 3;
/** What stands in the place of its record is another. */
export const ALTERED = 4;

/** Marks on the leaves of a log of a size. Numbers outside of it are left alone. */
export class LeafMarks {
  private readonly marks: Uint8Array;

  constructor(size: number) {
    this.marks = new Uint8Array(size);
  }

  has(leaf: number): boolean {
    return this.marks[leaf] !== undefined;
  }

  /** That a record is there counts for more than anything else; otherwise the first mark stays. */
  set(leaf: number, mark: Exclude<Mark, 0>): void {
    if (this.has(leaf) && (mark === RECORDED || this.marks[leaf] === UNKNOWN)) this.marks[leaf] = mark;
  }

  get(leaf: number): Mark {
    return (this.marks[leaf] ?? UNKNOWN) as Mark;
  }

  count(mark: Mark): number {
    return this.marks.reduce((sum, one) => sum + (one === mark ? 1 : 0), 0);
  }

  /** Numbers of the leaves with a mark, in order. @param most of them */
  *with(mark: Mark, most = Number.POSITIVE_INFINITY): Iterable<number> {
    for (let leaf = 0, found = 0; leaf < this.marks.length && found < most; leaf += 1)
      if (this.marks[leaf] === mark) {
        found += 1;
        yield leaf;
      }
  }
}
