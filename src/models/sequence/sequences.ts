import { LRUCache } from 'lru-cache';
import type { Connection } from 'mongoose';
import type { SecretBox } from '../../domain/access/secret-box.js';
import { roomFor } from '../../domain/basics/bounded-memory.js';
import { missingIn, type NumberRange } from '../../domain/sequence/ranges.js';
import type { Block, Blocks, VoidNumbers } from '../../domain/sequence/sequence.js';
import { sharedDate } from '../../domain/time/shared-time.js';
import { collection, type DocumentIn, may, must, repositoryOf } from '../mongo/collection.js';
import { wasMade } from '../mongo/duplicate-key.js';
import { inOnePass } from '../mongo/in-order.js';
import { insertMissing } from '../mongo/insert-missing.js';
import { Tags, textOf } from '../mongo/tags.js';

/** Blocks that others reserved meanwhile, after which a reservation is given up. */
const MAX_CONFLICTS = 100;
/** Voids that are read at once. */
const VOIDS_AT_ONCE = 1_000;

type StoredBlock = Block & { reserved_at: Date };

/** A block whose process is dead. */
export interface DeadBlock extends StoredBlock {
  account_id: string;
  /** When its process used it at the latest. */
  until: Date;
}

/** What is known of the numbers of an account besides its events. */
interface KnownNumbers {
  /** The first number that was given to no process yet. */
  next: number;
  /** Numbers of which it is not known yet whether events have them. */
  open: NumberRange[];
}

/** The sequence of an account, with the blocks of which it is not known yet which numbers events have. */
const sequences = collection('sequences', {
  /** The account. */
  _id: must(String),
  /** The first number that is in no block. */
  next: must(Number),
  blocks: must<StoredBlock[]>([
    { _id: false, first: must(Number), last: must(Number), holder: String, reserved_at: Date },
  ]),
});

/** Processes that have blocks. */
const holders = collection('sequence_holders', { _id: must(String), until: must(Date, { index: true }) });

const voids = collection(
  'sequence_voids',
  {
    /** Account and first number. */
    _id: must(String),
    account_id: must(String),
    first: must(Number),
    last: must(Number),
    at: must(Date),
    /** Of all of that. A void without it is none. */
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
  /** What shows that they are not as they were written; absent if they are. */
  wrong: string | undefined;
};

/** The sequences of accounts: which numbers were given to which process, and which are void. */
export class SequenceRepository extends repositoryOf(sequences) implements Blocks {
  private readonly holders: ReturnType<typeof holders>;
  private readonly voidModel: ReturnType<typeof voids>;
  private readonly tags: Tags;
  /** The next number of an account, as far as this process knows; of more accounts than these it is read. */
  private readonly known = new LRUCache<string, number>(roomFor(10_000));

  /** @param box tags what is declared void; absent: nothing can be, and nothing of it is believed */
  constructor(connection: Connection, box: SecretBox | undefined) {
    super(connection);
    this.holders = holders(connection);
    this.voidModel = voids(connection);
    this.tags = new Tags(box, 'void');
  }

  async hold(holder: string, until: Date): Promise<void> {
    await this.holders.updateOne({ _id: holder }, { $max: { until } }, { upsert: true });
  }

  /**
   * One write, unless another process has reserved a block of the account since this one did: the block and the next
   * number stand in one document.
   */
  async reserve(accountId: string, holder: string, size: number): Promise<NumberRange> {
    for (let conflicts = 0; conflicts < MAX_CONFLICTS; conflicts += 1) {
      const first = this.known.get(accountId) ?? (await this.nextOf(accountId));
      const block = { first, last: first + size - 1, holder, reserved_at: sharedDate() };
      if (await this.write(accountId, first, block)) {
        this.known.set(accountId, block.last + 1);
        return { first, last: block.last };
      }
      this.known.delete(accountId);
    }
    throw new Error('other processes reserved numbers of an account faster than this one');
  }

  private async nextOf(accountId: string): Promise<number> {
    return (await this.model.findOne({ _id: accountId }, { next: 1 }).lean())?.next ?? 1;
  }

  private async write(accountId: string, next: number, block: StoredBlock): Promise<boolean> {
    if (next > 1) {
      const { modifiedCount } = await this.model.updateOne(
        { _id: accountId, next },
        { $set: { next: block.last + 1 }, $push: { blocks: block } },
      );
      return modifiedCount === 1;
    }
    return wasMade(this.model.create({ _id: accountId, next: block.last + 1, blocks: [block] }));
  }

  /**
   * What is left is declared void before the block is given up: after a crash in between it is declared once more,
   * which changes nothing.
   */
  async release(
    accountId: string,
    block: Block,
    left: readonly NumberRange[],
    unsure: NumberRange | undefined,
  ): Promise<void> {
    await this.declareVoid(accountId, left);
    const { first, last, holder } = block;
    if (unsure?.first === first && unsure.last === last) return;
    if (unsure) {
      const stays = { ...unsure, holder, reserved_at: sharedDate() };
      await this.model.updateOne({ _id: accountId }, { $push: { blocks: stays } });
    }
    await this.model.updateOne({ _id: accountId }, { $pull: { blocks: { first, last, holder } } });
  }

  private async declareVoid(accountId: string, ranges: readonly NumberRange[]): Promise<void> {
    const declared = ranges.map(({ first, last }) => {
      const numbers = { _id: `${accountId}:${first}`, account_id: accountId, first, last, at: sharedDate() };
      return { ...numbers, tag: this.tags.tag(contentOf(numbers)), in_log: false };
    });
    await insertMissing(this.voidModel, declared);
  }

  /** Blocks of processes that may use them no more, and could not before a time. */
  async *dead(before: Date): AsyncIterable<DeadBlock> {
    const gone = await this.holders.find({ until: { $lt: before } }).lean();
    if (gone.length === 0) return;
    const until = new Map(gone.map(({ _id, until }) => [_id, until]));
    for await (const { _id, blocks } of this.model.find().lean().cursor())
      for (const block of blocks) {
        const ended = until.get(block.holder);
        if (ended) yield { account_id: _id, ...block, until: ended };
      }
    // All of theirs were settled by whoever asked, before it asked for more.
    await this.holders.deleteMany({ _id: { $in: [...until.keys()] } });
  }

  /**
   * Declares void what no event has of a block whose process is dead, and gives the block up.
   *
   * @param used numbers that events have
   */
  async settle({ account_id, first, last, holder }: DeadBlock, used: readonly NumberRange[]): Promise<void> {
    await this.release(account_id, { first, last, holder }, missingIn({ first, last }, used), undefined);
  }

  /** What is known of an account's numbers; `undefined` if no event of it was numbered. */
  async numbersOf(accountId: string): Promise<KnownNumbers | undefined> {
    const found = await this.model.findOne({ _id: accountId }).lean();
    return found
      ? { next: found.next, open: found.blocks.map(({ first, last }) => ({ first, last })) }
      : undefined;
  }

  /** Void numbers of an account within a range, those that were declared so: what somebody has written is none. */
  async voids(
    accountId: string,
    { first, last }: NumberRange,
  ): Promise<(VoidNumbers & { leaf_index: number | undefined })[]> {
    const all: (VoidNumbers & { leaf_index: number | undefined })[] = [];
    // A range that begins before may reach into this one; none is wider than a block.
    for (let from = first - VOIDS_AT_ONCE; ; ) {
      const found = await this.voidModel
        .find({ account_id: accountId, first: { $gte: from, $lte: last } })
        .sort({ first: 1 })
        .limit(VOIDS_AT_ONCE)
        .lean();
      all.push(
        ...found
          .filter((one) => one.last >= first && this.whatIsWrong(one) === undefined)
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
    if (numbers.size === 0) return;
    await this.voidModel.bulkWrite(
      [...numbers].map(([_id, leaf_index]) => ({
        updateOne: { filter: { _id }, update: { $set: { in_log: true, leaf_index } } },
      })),
      { ordered: false },
    );
  }

  /** All voids that the log has, likewise. */
  async *recorded(in_log = true): AsyncIterable<RecordedVoid[]> {
    for await (const some of inOnePass<VoidDocument>(this.voidModel.find({ in_log })))
      yield some.map((one) => {
        const wrong = this.whatIsWrong(one);
        return { id: one._id, ...toVoid(one), leafIndex: one.leaf_index ?? -1, wrong };
      });
  }

  /** Tags again what an older key tagged. @returns how many */
  retagAll(): Promise<number> {
    return this.tags.retagEach(this.voidModel, contentOf);
  }

  private whatIsWrong(document: VoidDocument): string | undefined {
    return this.tags.whatIsWrong(document.tag, contentOf(document));
  }
}

function contentOf({ _id, account_id, first, last, at }: Omit<VoidDocument, 'tag' | 'in_log'>): string {
  return textOf([_id, account_id, first, last, at]);
}

function toVoid({ account_id, first, last, at }: VoidDocument): VoidNumbers {
  return { account_id, first, last, at: new Date(at).toISOString() };
}
