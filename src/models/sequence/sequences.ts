import { LRUCache } from 'lru-cache';
import { type Connection, type Model, Schema } from 'mongoose';
import { roomFor } from '../../domain/basics/bounded-memory.js';
import { missingIn, type NumberRange } from '../../domain/sequence/ranges.js';
import type { Block, Blocks, VoidNumbers } from '../../domain/sequence/sequence.js';
import { isDuplicateKey } from '../mongo/duplicate-key.js';
import { insertMissing } from '../mongo/insert-missing.js';

/** Blocks that others reserved meanwhile, after which a reservation is given up. */
const MAX_CONFLICTS = 100;
/** Accounts whose next number a process knows; of others it is read. */
const MAX_KNOWN = 10_000;
/** Voids that are read at once. */
const VOIDS_AT_ONCE = 1_000;

interface StoredBlock extends Block {
  reserved_at: Date;
}

/** The sequence of an account, with the blocks of which it is not known yet which numbers events have. */
interface SequenceDocument {
  /** The account. */
  _id: string;
  /** The first number that is in no block. */
  next: number;
  blocks: StoredBlock[];
}

/** A process that has blocks. */
interface HolderDocument {
  _id: string;
  until: Date;
}

interface VoidDocument extends NumberRange {
  /** Account and first number. */
  _id: string;
  account_id: string;
  at: Date;
  /** Whether the log has its record. */
  in_log: boolean;
  leaf_index?: number | null;
}

/** A block whose process is dead. */
export interface DeadBlock extends Block {
  account_id: string;
  reserved_at: Date;
  /** When its process used it at the latest. */
  until: Date;
}

/** What is known of the numbers of an account besides its events. */
export interface KnownNumbers {
  /** The first number that was given to no process yet. */
  next: number;
  /** Numbers of which it is not known yet whether events have them. */
  open: NumberRange[];
}

const required = true;
const number = { type: Number, required };

const sequenceSchema = new Schema<SequenceDocument>(
  {
    _id: String,
    next: number,
    blocks: {
      type: [{ _id: false, first: number, last: number, holder: String, reserved_at: Date }],
      required,
    },
  },
  { versionKey: false },
);

const holderSchema = new Schema<HolderDocument>(
  { _id: String, until: { type: Date, required } },
  { versionKey: false },
);
holderSchema.index({ until: 1 });

const voidSchema = new Schema<VoidDocument>(
  {
    _id: String,
    account_id: { type: String, required },
    first: number,
    last: number,
    at: { type: Date, required },
    in_log: { type: Boolean, required },
    leaf_index: Number,
  },
  { versionKey: false },
);
voidSchema.index({ account_id: 1, first: 1 });
voidSchema.index({ in_log: 1 });

/** The sequences of accounts: which numbers were given to which process, and which are void. */
export class SequenceRepository implements Blocks {
  private readonly model: Model<SequenceDocument>;
  private readonly holders: Model<HolderDocument>;
  private readonly voidModel: Model<VoidDocument>;
  /** The next number of an account, as far as this process knows. */
  private readonly known = new LRUCache<string, number>(roomFor(MAX_KNOWN));

  constructor(connection: Connection) {
    this.model = connection.model<SequenceDocument>('sequence', sequenceSchema, 'sequences');
    this.holders = connection.model<HolderDocument>('sequence_holder', holderSchema, 'sequence_holders');
    this.voidModel = connection.model<VoidDocument>('sequence_void', voidSchema, 'sequence_voids');
  }

  async hold(holder: string, until: Date): Promise<void> {
    await this.holders.updateOne({ _id: holder }, { $max: { until } }, { upsert: true });
  }

  /** One write, unless another process has reserved a block of the account since this one did: the block and the next number stand in one document. */
  async reserve(accountId: string, holder: string, size: number): Promise<NumberRange> {
    for (let conflicts = 0; conflicts < MAX_CONFLICTS; conflicts += 1) {
      const first = this.known.get(accountId) ?? (await this.nextOf(accountId));
      const block = { first, last: first + size - 1, holder, reserved_at: new Date() };
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
    try {
      await this.model.create({ _id: accountId, next: block.last + 1, blocks: [block] });
      return true;
    } catch (error) {
      if (isDuplicateKey(error)) return false;
      throw error;
    }
  }

  /** What is left is declared void before the block is given up: after a crash in between it is declared once more, which changes nothing. */
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
      const stays = { ...unsure, holder, reserved_at: new Date() };
      await this.model.updateOne({ _id: accountId }, { $push: { blocks: stays } });
    }
    await this.model.updateOne({ _id: accountId }, { $pull: { blocks: { first, last, holder } } });
  }

  private async declareVoid(accountId: string, ranges: readonly NumberRange[]): Promise<void> {
    const at = new Date();
    await insertMissing(
      this.voidModel,
      ranges.map(({ first, last }) => ({
        ...{ _id: `${accountId}:${first}`, account_id: accountId, first, last },
        ...{ at, in_log: false },
      })),
    );
  }

  /** Blocks of processes that may use them no more, and could not before a time. */
  async *dead(before: Date): AsyncIterable<DeadBlock> {
    const gone = await this.holders.find({ until: { $lt: before } }).lean();
    if (gone.length === 0) return;
    const until = new Map(gone.map(({ _id, until }) => [_id, until]));
    for await (const { _id, blocks } of this.model.find().lean<SequenceDocument[]>().cursor())
      for (const block of blocks) {
        const ended = until.get(block.holder);
        if (ended) yield { account_id: _id, ...block, until: ended };
      }
    // All of theirs were settled by whoever asked, before it asked for more.
    await this.holders.deleteMany({ _id: { $in: [...until.keys()] } });
  }

  /** Declares void what no event has of a block whose process is dead, and gives the block up. @param used numbers that events have */
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

  /** Void numbers of an account within a range, some at once. @param after only those that begin behind this number */
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
          .filter((one) => one.last >= first)
          .map(({ account_id, first, last, at, leaf_index }) => ({
            ...{ account_id, first, last, at: at.toISOString() },
            leaf_index: leaf_index ?? undefined,
          })),
      );
      const end = found.at(-1);
      if (found.length < VOIDS_AT_ONCE || !end) return all;
      from = end.first + 1;
    }
  }

  /** Voids that the log does not have. */
  async unlogged(limit: number): Promise<(VoidNumbers & { id: string })[]> {
    const found = await this.voidModel.find({ in_log: false }).limit(limit).lean();
    return found.map(({ _id: id, account_id, first, last, at }) => ({
      ...{ id, account_id, first, last },
      at: at.toISOString(),
    }));
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

  /** All voids that the log has, some at once. */
  async *recorded(): AsyncIterable<(VoidNumbers & { id: string; leafIndex: number })[]> {
    let after = '';
    for (;;) {
      const found = await this.voidModel
        .find({ _id: { $gt: after }, in_log: true })
        .sort({ _id: 1 })
        .limit(VOIDS_AT_ONCE)
        .lean();
      yield found.map(({ _id: id, account_id, first, last, at, leaf_index }) => ({
        ...{ id, account_id, first, last, at: at.toISOString() },
        leafIndex: leaf_index ?? -1,
      }));
      after = found.at(-1)?._id ?? after;
      if (found.length < VOIDS_AT_ONCE) return;
    }
  }
}
