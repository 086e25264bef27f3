import type { Connection } from 'mongoose';
import type { SecretBox } from '../../domain/access/secret-box.js';
import type { NumberRange } from '../../domain/sequence/ranges.js';
import type { VoidNumbers } from '../../domain/sequence/sequence.js';
import { sharedDate } from '../../domain/time/shared-time.js';
import { NO_LEAF, noteInLog } from '../log/in-log.js';
import { collection, type DocumentIn, may, must, repositoryOf } from '../mongo/collection.js';
import { inOnePass } from '../mongo/in-order.js';
import { insertMissing } from '../mongo/insert-missing.js';
import { Tags, textOf } from '../mongo/tags.js';

/** Voids that are read at once. */
const VOIDS_AT_ONCE = 1_000;

const voids = collection(
  'sequence_voids',
  {
    /** Account and first number. */
    _id: must(String),
    account_id: must(String),
    first: must(Number),
    last: must(Number),
    at: must(Date),
    /** Tag of the fields above. Void numbers without a correct one do not count. */
    tag: must(String),
    /** Whether the log has its record. */
    in_log: must(Boolean, { index: true }),
    leaf_index: may(Number),
  },
  { indexes: [{ account_id: 1, first: 1 }] },
);

type VoidDocument = DocumentIn<typeof voids>;

/** Void numbers as they are kept. */
export type RecordedVoid = VoidNumbers & {
  id: string;
  leafIndex: number;
  /** Difference from what was written; absent if there is none. */
  wrong: string | undefined;
};

/** Numbers that were declared void. */
export class VoidRepository extends repositoryOf(voids) {
  private readonly tags: Tags<VoidDocument>;

  /** @param box tags what is declared void; absent: nothing can be, and nothing of it is believed */
  constructor(connection: Connection, box: SecretBox | undefined) {
    super(connection);
    this.tags = new Tags(box, 'void', voids, contentOfVoid);
  }

  /** Declares numbers void that no event has, nor will have. Again, it changes nothing. */
  async declare(accountId: string, ranges: readonly NumberRange[]): Promise<void> {
    const declared = ranges.map(({ first, last }) => {
      const numbers = { _id: `${accountId}:${first}`, account_id: accountId, first, last, at: sharedDate() };
      return { ...numbers, tag: this.tags.tag({ ...numbers, in_log: false }), in_log: false };
    });
    await insertMissing(this.model, declared);
  }

  /** Void numbers of an account within a range, those that were declared so: what somebody has written is none. */
  async within(
    accountId: string,
    { first, last }: NumberRange,
  ): Promise<(VoidNumbers & { leaf_index: number | undefined })[]> {
    const all: (VoidNumbers & { leaf_index: number | undefined })[] = [];
    // A range that begins before may reach into this one; none is wider than a block.
    for (let from = first - VOIDS_AT_ONCE; ; ) {
      const found = await this.model
        .find({ account_id: accountId, first: { $gte: from, $lte: last } })
        .sort({ first: 1 })
        .limit(VOIDS_AT_ONCE)
        .lean();
      all.push(
        ...found
          .flatMap((one) => this.tags.believed(one) ?? [])
          .filter((one) => one.last >= first)
          .map((one) => ({ ...toVoid(one), leaf_index: one.leaf_index ?? undefined })),
      );
      const end = found.at(-1);
      if (found.length < VOIDS_AT_ONCE || !end) return all;
      from = end.first + 1;
    }
  }

  /** Voids that the log does not have, some at once, each with what is wrong with it. */
  unlogged(): AsyncIterable<RecordedVoid[]> {
    return this.recorded(false);
  }

  /** Records that the log has these voids. @param numbers of their records, by id */
  async logged(numbers: ReadonlyMap<string, number>): Promise<void> {
    await noteInLog(this.model, numbers);
  }

  /** All voids that the log has, likewise. */
  async *recorded(in_log = true): AsyncIterable<RecordedVoid[]> {
    // Whatever else stands there, the log is not known to have it.
    const which = { in_log: in_log ? true : { $ne: true } };
    for await (const some of inOnePass<VoidDocument>(this.model.find(which)))
      yield some.map((stored) => {
        const { document, wrong } = this.tags.read(stored);
        return { id: document._id, ...toVoid(document), leafIndex: document.leaf_index ?? NO_LEAF, wrong };
      });
  }

  /** The last number of an account that was declared void, from a number on; 0 if there is none. */
  async lastFrom(accountId: string, first: number): Promise<number> {
    let highest = 0;
    for await (const some of inOnePass<VoidDocument>(
      this.model.find({ account_id: accountId, first: { $gte: first } }),
    ))
      for (const one of some) highest = Math.max(highest, this.tags.believed(one)?.last ?? 0);
    return highest;
  }

  /** Tags again what an older key tagged. @returns how many */
  retagAll(): Promise<number> {
    return this.tags.retagEach(this.model);
  }
}

export function contentOfVoid({
  _id,
  account_id,
  first,
  last,
  at,
}: Omit<VoidDocument, 'tag' | 'in_log'>): string {
  return textOf([_id, account_id, first, last, at]);
}

function toVoid({ account_id, first, last, at }: VoidDocument): VoidNumbers {
  return { account_id, first, last, at: at.toISOString() };
}
