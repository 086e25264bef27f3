import type { Connection } from 'mongoose';
import type { NoteSigner, NoteVerifier } from '../../../packages/tlog/src/index.js';
import {
  asSigned,
  consistencyProof,
  EMPTY_ROOT,
  edgeAmong,
  edgeOf,
  growTiles,
  inclusionProof,
  isConsistent,
  isIncluded,
  LogLeaves,
  leafHash,
  openCheckpoint,
  openedBy,
  originOf,
  readFromTiles,
  rootHash,
  rootOfEdge,
  signCheckpoint,
  type TileKey,
  type TileReader,
  widthOf,
} from '../../../packages/tlog/src/index.js';
import type { CheckpointCopy } from '../../domain/log/checkpoint-copy.js';
import { LogAlteredError } from '../../domain/log/log-altered.js';
import {
  type OpenedCheckpoint,
  openStored,
  type SignedBefore,
  signedBefore,
} from '../../domain/log/signed-before.js';
import { sharedDate } from '../../domain/time/shared-time.js';
import { LogAudit } from './log-audit.js';
import { type LogHead, LogHeads } from './log-head.js';
import { LogStamps } from './log-stamps.js';
import { LogTiles } from './log-tiles.js';

/** Proof that a record is in the log. */
export interface Inclusion {
  proof: Buffer[];
  head: OpenedCheckpoint;
}

/**
 * Asks witnesses for cosignatures of a checkpoint.
 *
 * @returns the note with those that there are now; it does not fail because a witness does
 */
export type Cosign = (asked: {
  note: string;
  size: number;
  /** Proof that the tree of an earlier size, 0 or more, is the beginning of this one. */
  proofFrom(size: number): Promise<Buffer[]>;
}) => Promise<string>;

/**
 * Asks a time-stamping service about a checkpoint.
 *
 * @returns its response, base64; `undefined` if there is none now: it does not fail because the service does
 */
export type Stamp = (note: string) => Promise<string | undefined>;

/** Memory, outside of MongoDB, of signed checkpoints. */
export interface Memory {
  /** Keys besides those that sign now whose checkpoints are this log's. */
  known?: readonly NoteVerifier[];
  /** Signed notes that Temporal has. */
  ledger?: readonly string[];
  copy?: CheckpointCopy | undefined;
  /** Witnesses, whose cosignatures stand in the note. */
  cosign?: Cosign | undefined;
  /** A service that says when the note was there. */
  stamp?: Stamp | undefined;
  /** Origins of logs that the operator has given up. */
  abandoned?: readonly string[];
}

/**
 * The log: an append-only Merkle tree over records, and its signed head.
 *
 * Leaves are appended first; the rest of the tree and the head follow from them. The next {@link publish}, by any
 * process, completes work that a crash interrupted.
 */
export class LogRepository {
  private readonly tiles: LogTiles;
  private readonly leaves: LogLeaves;
  private readonly heads: LogHeads;
  private readonly stamps: LogStamps;
  private readonly auditor: LogAudit;
  /** Work of this process at its turn: it publishes and checks tiles one after the other. */
  private turn: Promise<unknown> = Promise.resolve();

  /** @param auditEveryMs how often all tiles are looked at; absent: once a day */
  constructor(connection: Connection, auditEveryMs?: number) {
    this.tiles = new LogTiles(connection);
    this.heads = new LogHeads(connection);
    this.stamps = new LogStamps(connection);
    // No more than a hint where the last tile is: nothing is signed that does not continue what was signed.
    this.leaves = new LogLeaves(this.tiles, async () => (await this.heads.read())?.size ?? 0);
    this.auditor = new LogAudit(this.tiles, this.leaves, auditEveryMs);
  }

  /**
   * Appends records. They are part of the log, but not of a checkpoint yet. A record that is appended again has the
   * number that it had, if that is among the last few thousand; otherwise it is there twice, which does no harm.
   *
   * @returns their numbers
   */
  append(records: readonly string[]): Promise<number[]> {
    return this.appendRuns(records.map((record) => [leafHash(record)]));
  }

  /**
   * Appends runs of leaves, each as it is, without anything in between. One that is appended again, whole, has the
   * number that it had, likewise.
   *
   * @returns the numbers of their first leaves
   */
  appendRuns(runs: readonly (readonly Buffer[])[]): Promise<number[]> {
    return runs.length === 0 ? Promise.resolve([]) : this.leaves.append(runs);
  }

  /** Leaves by their numbers, those that there are, as they are stored. */
  leavesAt(numbers: readonly number[]): Promise<ReadonlyMap<number, Buffer>> {
    return this.leaves.at(numbers);
  }

  /** Whether a leaf, as it is stored, is that of a record. */
  async isLeaf(record: string, number: number): Promise<boolean> {
    const leaf = (await this.leaves.at([number])).get(number);
    return leaf?.equals(leafHash(record)) === true;
  }

  /** How many leaves are stored, signed or not. */
  size(): Promise<number> {
    return this.leaves.size();
  }

  /** Leaves from a number on, in order, some at once; none behind the last. As they are stored. */
  leavesFrom(first: number): Promise<readonly Buffer[]> {
    return this.leaves.from(first);
  }

  /**
   * Brings the tree and the checkpoint up to the leaves. A signed checkpoint continues every checkpoint that MongoDB or
   * `memory` has, as the stored tiles prove.
   *
   * @param signers of one log @returns the last checkpoint
   * @throws LogAlteredError if it does not, or a checkpoint that was signed is missing: then nothing is signed
   * @throws LogCopyError if the copy outside cannot be read or written: then nothing is signed either, or nobody sees
   * it
   */
  publish(signers: readonly NoteSigner[], memory: Memory = {}): Promise<LogHead> {
    return this.inTurn(() => this.publishNow(signers, memory));
  }

  /**
   * Looks at all tiles of the signed tree, once when the process begins to sign and then once a day, part by part.
   * {@link publish} does it too, at once.
   *
   * @param until when to stop, milliseconds since the epoch @returns whether it is done
   * @throws LogAlteredError
   */
  audit(keys: readonly NoteVerifier[], until: number): Promise<boolean> {
    return this.inTurn(async () => {
      const head = await this.head(keys);
      return !head || this.auditor.goOn(head, until);
    });
  }

  /**
   * Looks whether a checkpoint of the log as it is stored would be signed, which continues all that are remembered.
   *
   * @throws LogAlteredError if not @throws LogCopyError if the copy outside cannot be read
   */
  check(keys: readonly NoteVerifier[], memory: Memory): Promise<unknown> {
    return this.inTurn(() => this.continued(keys, memory));
  }

  /**
   * The last checkpoint; `undefined` if none has been signed.
   *
   * @throws LogAlteredError if none of the keys has signed it
   */
  async head(keys: readonly NoteVerifier[]): Promise<OpenedCheckpoint | undefined> {
    const stored = await this.heads.read();
    return stored && openStored(stored, keys);
  }

  /**
   * Proves a record in the log: as it was signed last, or as it was when a time stamp first had it, which says how old
   * it is at least.
   *
   * @param index its number @returns `undefined` if it was appended after that
   * @throws LogAlteredError if the log does not hold this record there, or none of the keys has signed it
   */
  async prove(
    record: string,
    index: number,
    keys: readonly NoteVerifier[],
    checkpoint: 'last' | 'stamped' = 'last',
  ): Promise<Inclusion | undefined> {
    const last = await this.head(keys);
    if (!last || index >= last.size) return undefined;
    const head = (checkpoint === 'stamped' && (await this.stamped(index, last, keys))) || last;
    const proof = await inclusionProof(index, head.size, readFromTiles(this.read));
    if (!isIncluded(leafHash(record), index, head.size, head.root, proof))
      throw altered(`number ${index} is not this record`);
    return { proof, head };
  }

  /**
   * Proof that the log of one size is the beginning of the log of another. Both at least 1, and not beyond the last
   * checkpoint.
   */
  consistency(from: number, to: number): Promise<Buffer[]> {
    return consistencyProof(from, to, readFromTiles(this.read));
  }

  /**
   * A tile as it was in a log of a size; `undefined` if there was none so wide.
   *
   * @param size not beyond the last checkpoint
   */
  async tile(key: TileKey, width: number, size: number): Promise<Buffer | undefined> {
    if (widthOf(key, size) < width) return undefined;
    const [tile] = await this.tiles.read([key]);
    return tile && Buffer.concat(tile.hashes.slice(0, width));
  }

  /** The oldest checkpoint with a time stamp that has a leaf; `undefined` if there is none that a key has signed. */
  private async stamped(
    index: number,
    last: OpenedCheckpoint,
    keys: readonly NoteVerifier[],
  ): Promise<OpenedCheckpoint | undefined> {
    const found = await this.stamps.oldestWith(index);
    if (!found || found.size > last.size || originOf(found.note) !== last.origin) return undefined;
    const key = openedBy(found.note, keys);
    return key && { ...openCheckpoint(found.note, [key]), ...found };
  }

  private inTurn<T>(act: () => Promise<T>): Promise<T> {
    const done = this.turn.then(act);
    this.turn = done.catch(() => undefined);
    return done;
  }

  private async continued(keys: readonly NoteVerifier[], { ledger, copy, abandoned }: Memory) {
    const stored = await this.heads.read();
    const copied = await copy?.read();
    const before = signedBefore({ stored, ledger, copy: copied }, keys, abandoned);
    const { head, last } = before;
    if (head) await this.auditor.goOn(head, Number.POSITIVE_INFINITY);
    const tree = await this.grow(head);
    await this.proveContinued(before, tree);
    return { stored, copied, head, last, tree };
  }

  private async publishNow(signers: readonly NoteSigner[], memory: Memory): Promise<LogHead> {
    const { known = [], copy, cosign, stamp } = memory;
    const keys = [...signers.map(({ verifier }) => verifier), ...known];
    const { stored, copied, head, last, tree } = await this.continued(keys, memory);
    const isSigned = last?.size === tree.size && isSignedBy(last, signers);
    const signed = isSigned ? last.note : signCheckpoint(tree.size, tree.root, signers);
    // The copy comes first: a note that left this process and is remembered nowhere could be signed again over another
    // tree. Only the first of all has to be in MongoDB before, where a missing one would otherwise count as taken away.
    if (head && !isSigned) await copy?.write(signed);
    const proofFrom = async (from: number) => (from === 0 ? [] : this.consistency(from, tree.size));
    const note =
      cosign && tree.size > 0 ? await cosign({ note: signed, size: tree.size, proofFrom }) : signed;
    const isStamped = head?.timestamp !== undefined && asSigned(head.note) === asSigned(note);
    const next = { ...tree, note, signed_at: sharedDate(), ...(isStamped && { timestamp: head.timestamp }) };
    if (note !== head?.note) {
      const isInPlace = stored && (!head || head.size === tree.size);
      await this.heads.advance(next, isInPlace ? stored.note : undefined);
    }
    if (note !== (head && !isSigned ? signed : copied)) await copy?.write(note);
    const timestamp = isStamped || tree.size === 0 ? undefined : await stamp?.(note);
    if (timestamp === undefined) return next;
    await this.heads.stamp(note, timestamp);
    await this.stamps.keep({ size: tree.size, note, timestamp });
    return { ...next, timestamp };
  }

  /** Adds to the tree what was appended since a checkpoint. @returns the tree of all leaves, as it is stored */
  private async grow(head: OpenedCheckpoint | undefined): Promise<{ size: number; root: Buffer }> {
    let size = head?.size ?? 0;
    let edge = edgeAmong(size, await this.tiles.read(edgeOf(size)));
    if (head && !(await rootOfEdge(size, edge)).equals(head.root)) throw altered('its root is another');
    for (let added = await this.leaves.from(size); added.length > 0; added = await this.leaves.from(size)) {
      const grown = growTiles(size, edge, added);
      await this.tiles.write(grown.filter(({ level }) => level > 0));
      size += added.length;
      edge = edgeAmong(size, [...edge, ...grown]);
    }
    const root = await rootHash(size, readFromTiles(this.read));
    if (!root.equals(await rootOfEdge(size, edge))) throw altered('a tile is not what was written');
    return { size, root };
  }

  /** @throws LogAlteredError unless the stored tiles prove that each earlier tree is the beginning of a tree */
  private async proveContinued({ all }: SignedBefore, tree: { size: number; root: Buffer }): Promise<void> {
    for (const older of new Map(all.map((one) => [one.size, one])).values()) {
      if (older.size > tree.size)
        throw new LogAlteredError(
          'leaves_missing',
          `a checkpoint of ${older.size} records was signed, and the log has ${tree.size}`,
        );
      const isContinued =
        older.size === 0
          ? older.root.equals(EMPTY_ROOT)
          : isConsistent(older, tree, await this.consistency(older.size, tree.size));
      if (!isContinued) throw altered(`it does not continue the one of ${older.size} records`);
    }
  }

  private readonly read: TileReader = (keys) => this.tiles.read(keys);
}

function isSignedBy({ note }: OpenedCheckpoint, signers: readonly NoteSigner[]): boolean {
  return signers.every(({ verifier }) => openedBy(note, [verifier]));
}

function altered(how: string): LogAlteredError {
  return new LogAlteredError('tree_altered', `the tree of the log is not the one that was signed: ${how}`);
}
