import { LRUCache } from 'lru-cache';
import type { Connection } from 'mongoose';
import type { SecretBox } from '../../domain/access/secret-box.js';
import { roomFor } from '../../domain/basics/bounded-memory.js';
import { idTime } from '../../domain/basics/id-time.js';
import { RecordAlteredError } from '../../domain/records/record-altered.js';
import { type LostNumbers, leapAfter, type Restore } from '../../domain/sequence/lost-numbers.js';
import { missingIn, type NumberRange } from '../../domain/sequence/ranges.js';
import type { Block, Blocks, Reserved } from '../../domain/sequence/sequence.js';
import { sharedDate } from '../../domain/time/shared-time.js';
import { NumberedEvents } from '../event/numbered-events.js';
import { repositoryOf } from '../mongo/collection.js';
import { wasMade } from '../mongo/duplicate-key.js';
import { inOnePass } from '../mongo/in-order.js';
import { insertOrRaise } from '../mongo/insert-missing.js';
import { Tags } from '../mongo/tags.js';
import { RestoreRepository } from './restores.js';
import {
  contentOfHolder,
  contentOfSequence,
  type HolderDocument,
  holders,
  type SequenceDocument,
  type StoredBlock,
  type StoredLoss,
  sequences,
} from './sequence-documents.js';
import { VoidRepository } from './void-numbers.js';

/** Others that changed a sequence meanwhile, after which a change is given up. */
const MAX_CONFLICTS = 100;

/** A block whose process is dead. */
export interface DeadBlock extends StoredBlock {
  account_id: string;
  /** When its process used it at the latest. */
  until: Date;
}

/** Numbers of an account that are known besides its events. */
export interface KnownNumbers {
  /** The first number that was given to no process yet. */
  next: number;
  /** Numbers of which it is not known yet whether events have them. */
  open: NumberRange[];
  /** Numbers that may have been given, of which nothing is kept. */
  lost: LostNumbers[];
}

/** A sequence as it is stored, and whether it is to be believed. */
interface Seen {
  stored: SequenceDocument | undefined;
  /** The same, if it is as it was written. */
  document: SequenceDocument | undefined;
  /** Sign that it does not say all that was given; absent if there is none. */
  wrong: string | undefined;
  /** The highest number that anything else says was given. */
  highest: number;
}

/** The sequences of accounts: which numbers were given to which process, which are void, and which are lost. */
export class SequenceRepository extends repositoryOf(sequences) implements Blocks {
  readonly voids: VoidRepository;
  readonly restores: RestoreRepository;
  readonly events: NumberedEvents;
  private readonly holders: ReturnType<typeof holders>;
  private readonly tags: Tags<SequenceDocument>;
  private readonly holderTags: Tags<HolderDocument>;
  /** The sequence of an account as this process wrote it last; of more accounts than these it is read. */
  private readonly known = new LRUCache<string, SequenceDocument>(roomFor(10_000));

  /** @param box tags what is written; absent: nothing can be, and nothing of it is believed */
  constructor(connection: Connection, box: SecretBox | undefined) {
    super(connection);
    this.voids = new VoidRepository(connection, box);
    this.restores = new RestoreRepository(connection, box);
    this.events = new NumberedEvents(connection, box);
    this.holders = holders(connection);
    this.tags = new Tags(box, 'sequence', sequences, contentOfSequence);
    this.holderTags = new Tags(box, 'sequence holder', holders, contentOfHolder);
  }

  async hold(holder: string, until: Date): Promise<void> {
    const document = { _id: holder, until };
    const tag = this.holderTags.tag(document);
    await insertOrRaise(this.holders, [{ ...document, tag }], 'until');
  }

  /**
   * Two reads and a write, unless another process has changed the account's sequence since this one did: the block and
   * the next number stand in one document. A sequence that this process did not write itself is compared with
   * everything else that is stored.
   */
  async reserve(accountId: string, holder: string, size: number): Promise<Reserved> {
    let remembered = this.known.get(accountId);
    let isMine = remembered !== undefined;
    for (let conflicts = 0; conflicts < MAX_CONFLICTS; conflicts += 1) {
      const at = sharedDate();
      const restores = await this.restores.all();
      const seen = isMine ? mine(remembered) : await this.see(accountId, remembered);
      const { document } = seen;
      const loss = lossOf(accountId, seen, restores, at);
      const first = loss ? loss.last + 1 : (document?.next ?? 1);
      const block = { first, last: first + size - 1, holder, reserved_at: sharedDate() };
      const next = await this.replace(seen.stored, {
        _id: accountId,
        next: block.last + 1,
        blocks: [...(loss ? [] : (document?.blocks ?? [])), block],
        lost: [...(document?.lost ?? []), ...(loss ? [loss] : [])],
      });
      if (next) this.known.set(accountId, next);
      if (next) return { first, last: block.last, ...(loss && { lost: toLost(loss) }) };
      isMine = false;
      remembered = this.known.get(accountId);
    }
    throw new Error('other processes changed the sequence of an account faster than this one');
  }

  /**
   * Looks at the sequence of an account, and at what else says which numbers were given.
   *
   * @param remembered as this process wrote it last
   */
  private async see(accountId: string, remembered?: SequenceDocument): Promise<Seen> {
    const stored = (await this.model.findOne({ _id: accountId }).lean()) ?? undefined;
    const { document: read, wrong: altered } = stored ? this.tags.read(stored) : {};
    const document = altered === undefined ? read : undefined;
    const next = document?.next ?? 1;
    const [ofEvent, ofVoid] = await Promise.all([
      this.events.highestFrom(accountId, next),
      this.voids.lastFrom(accountId, next),
    ]);
    const highest = Math.max(ofEvent, ofVoid, (remembered?.next ?? 1) - 1);
    const older = highest >= next ? `does not know number ${highest}, which was given` : undefined;
    return { stored, document, wrong: altered ?? older, highest };
  }

  /** Writes a sequence in the place of another. @returns it; `undefined` if that is not there any more */
  private async replace(
    before: SequenceDocument | undefined,
    content: Omit<SequenceDocument, 'tag'>,
  ): Promise<SequenceDocument | undefined> {
    const document = { ...content, tag: this.tags.tag(content) };
    if (!before) return (await wasMade(this.model.create(document))) ? document : undefined;
    const { _id, ...fields } = document;
    const { modifiedCount } = await this.model.updateOne({ _id, tag: before.tag ?? null }, { $set: fields });
    return modifiedCount === 1 ? document : undefined;
  }

  /**
   * Releases blocks. The rest is declared void before the block is given up: after a crash in between it is declared
   * once more, which changes nothing.
   */
  async release(
    accountId: string,
    block: Block,
    left: readonly NumberRange[],
    unsure: NumberRange | undefined,
  ): Promise<void> {
    await this.voids.declare(accountId, left);
    const { first, last } = block;
    if (unsure?.first === first && unsure.last === last) return;
    const stays = unsure ? [{ ...unsure, holder: block.holder, reserved_at: sharedDate() }] : [];
    await this.giveUp(accountId, block, stays);
  }

  /** Takes a block out of a sequence, but for what stays of it. The next reservation detects an altered one. */
  private async giveUp(
    accountId: string,
    { first, last, holder }: Block,
    stays: readonly StoredBlock[],
  ): Promise<void> {
    for (let conflicts = 0; conflicts < MAX_CONFLICTS; conflicts += 1) {
      const found = await this.model.findOne({ _id: accountId }).lean();
      const stored = found && this.tags.believed(found);
      if (!stored) return;
      const others = stored.blocks.filter(
        (one) => one.first !== first || one.last !== last || one.holder !== holder,
      );
      if (others.length === stored.blocks.length) return;
      const { _id, next, lost } = stored;
      const content = { _id, next, blocks: [...others, ...stays], lost };
      if (await this.replace(stored, content)) return;
    }
    throw new Error('other processes changed the sequence of an account faster than this one');
  }

  /** Blocks of processes that may use them no more, and could not before a time. */
  async *dead(before: Date): AsyncIterable<DeadBlock> {
    const found = await this.holders.find({ until: { $lt: before } }).lean();
    const gone = found.flatMap((one) => this.holderTags.believed(one) ?? []);
    if (gone.length === 0) return;
    const until = new Map(gone.map(({ _id, until }) => [_id, until]));
    for await (const stored of this.model.find().lean().cursor()) {
      const { _id: account_id, blocks = [] } = this.tags.believed(stored) ?? {};
      for (const block of blocks) {
        const ended = until.get(block.holder);
        if (account_id !== undefined && ended) yield { account_id, ...block, until: ended };
      }
    }
    // The holder settled all of theirs before it asked for more.
    await this.holders.deleteMany({ _id: { $in: [...until.keys()] } });
  }

  /**
   * Gives up a block whose process is dead: what no event has of it is void. But not after a restore: events that had
   * the numbers may be gone, and with the next reservation they are lost.
   *
   * @param used numbers that events have
   */
  async settle(
    { account_id, first, last, holder, reserved_at }: DeadBlock,
    used: readonly NumberRange[],
  ): Promise<void> {
    if ((await this.restores.all()).some(({ at }) => at >= reserved_at)) return;
    await this.release(account_id, { first, last, holder }, missingIn({ first, last }, used), undefined);
  }

  /**
   * Known numbers of an account; `undefined` if no event of it was numbered.
   *
   * @throws RecordAlteredError if its sequence does not say all that was given
   */
  async numbersOf(accountId: string): Promise<KnownNumbers | undefined> {
    const at = sharedDate();
    const restores = await this.restores.all();
    let seen = await this.see(accountId);
    // Another process may have reserved a block, and used it, in between.
    if (seen.wrong !== undefined) seen = await this.see(accountId);
    const { document, wrong } = seen;
    if (wrong !== undefined) throw new RecordAlteredError(`the sequence of ${accountId}`, wrong);
    const loss = lossOf(accountId, seen, restores, at);
    if (!document && !loss) return undefined;
    return {
      next: loss ? loss.last + 1 : (document?.next ?? 1),
      open: loss ? [] : (document?.blocks ?? []).map(({ first, last }) => ({ first, last })),
      lost: [...(document?.lost ?? []), ...(loss ? [loss] : [])].map(toLost),
    };
  }

  /** All sequences that are as they were written: which numbers were given, and which of them are lost. */
  async *all(): AsyncIterable<{ accountId: string; next: number; lost: LostNumbers[] }> {
    for await (const some of inOnePass<SequenceDocument>(this.model.find()))
      for (const stored of some) {
        const document = this.tags.believed(stored);
        if (document) yield { accountId: document._id, next: document.next, lost: document.lost.map(toLost) };
      }
  }

  /** Differences from what was written in sequences, processes that have blocks, and restores. */
  async *altered(): AsyncIterable<{ id: string; wrong: string }> {
    for await (const some of inOnePass<SequenceDocument>(this.model.find()))
      for (const document of some) {
        const wrong = this.tags.whatIsWrong(document);
        if (wrong !== undefined) yield { id: `the sequence of ${document._id}`, wrong };
      }
    for (const document of await this.holders.find().lean()) {
      const wrong = this.holderTags.whatIsWrong(document);
      if (wrong !== undefined) yield { id: `the holder of numbers ${document._id}`, wrong };
    }
    for (const { id, wrong } of await this.restores.altered()) yield { id: `the restore ${id}`, wrong };
  }

  /** Tags again what an older key tagged. @returns how many */
  async retagAll(): Promise<number> {
    const retagged = [
      await this.tags.retagEach(this.model),
      await this.holderTags.retagEach(this.holders),
      await this.restores.retagAll(),
      await this.voids.retagAll(),
    ];
    return retagged.reduce((sum, one) => sum + one, 0);
  }
}

/** A sequence that this process wrote itself. */
function mine(document: SequenceDocument | undefined): Seen {
  return { stored: document, document, wrong: undefined, highest: 0 };
}

/**
 * Lost numbers of a sequence that does not say all that was given: from where nobody knows which numbers have been
 * given, up to where none has been.
 *
 * @param at when the restores were read: those that are noted later are not counted in
 */
function lossOf(
  accountId: string,
  { document, wrong, highest }: Seen,
  restores: readonly Restore[],
  at: Date,
): StoredLoss | undefined {
  const counted = Math.max(idTime(accountId), ...(document?.lost ?? []).map((one) => one.at.getTime()));
  const uncounted = restores.filter((one) => one.at.getTime() > counted);
  const why = wrong === undefined ? uncounted.at(-1)?.why : `the sequence ${wrong}`;
  if (why === undefined) return undefined;
  const { next = 1, blocks = [] } = document ?? {};
  const first = Math.min(next, ...blocks.map((block) => block.first));
  return { first, last: Math.max(next - 1, highest) + leapAfter(uncounted), at, why };
}

function toLost({ first, last, at, why }: StoredLoss): LostNumbers {
  return { first, last, at: new Date(at).toISOString(), why };
}
