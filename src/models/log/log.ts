import type { Connection } from 'mongoose';
import { openedBy, signCheckpoint } from '../../domain/log/checkpoint.js';
import { LogAlteredError } from '../../domain/log/log-altered.js';
import {
  consistencyProof,
  inclusionProof,
  isIncluded,
  leafHash,
  rootHash,
} from '../../domain/log/merkle-tree.js';
import type { NoteSigner } from '../../domain/log/signed-note.js';
import {
  edgeOf,
  growTiles,
  readFromTiles,
  type Tile,
  type TileKey,
  type TileReader,
  widthOf,
} from '../../domain/log/tiles.js';
import { type LogHead, LogHeads } from './log-head.js';
import { LogLeaves } from './log-leaves.js';
import { LogTiles } from './log-tiles.js';

/** That a record is in the log. */
export interface Inclusion {
  proof: Buffer[];
  head: LogHead;
}

/**
 * The log: an append-only Merkle tree over records, and its signed head.
 *
 * Leaves are appended first; the rest of the tree and the head follow from them. What a crash leaves undone is done by the next {@link publish}, by
 * any process.
 */
export class LogRepository {
  private readonly tiles: LogTiles;
  private readonly leaves: LogLeaves;
  private readonly heads: LogHeads;

  constructor(connection: Connection) {
    this.tiles = new LogTiles(connection);
    this.heads = new LogHeads(connection);
    this.leaves = new LogLeaves(this.tiles, async () => (await this.heads.read())?.size ?? 0);
  }

  /**
   * Appends records. They are part of the log, but not of a checkpoint yet. A record that is appended again, after a crash, is there twice, which
   * does no harm.
   *
   * @returns their numbers
   */
  append(records: readonly string[]): Promise<number[]> {
    return records.length === 0 ? Promise.resolve([]) : this.leaves.append(records.map(leafHash));
  }

  /**
   * Brings the tree and the checkpoint up to the leaves.
   *
   * @param signers of one log @returns the last checkpoint
   * @throws LogAlteredError if the stored tree is not the one that was signed, or leaves are missing: then nothing is signed
   */
  async publish(signers: readonly NoteSigner[]): Promise<LogHead> {
    let head = await this.heads.read();
    let size = head?.size ?? 0;
    let edge = nextEdge(size, await this.tiles.read(edgeOf(size)));
    if (head && !(await rootOf(size, edge)).equals(head.root)) throw altered();
    for (let added = await this.leaves.from(size); added.length > 0; added = await this.leaves.from(size)) {
      const grown = growTiles(size, edge, added);
      await this.tiles.write(grown.filter(({ level }) => level > 0));
      size += added.length;
      edge = nextEdge(size, [...edge, ...grown]);
    }
    if (size > (head?.size ?? 0) || !head) {
      const root = await rootOf(size, edge);
      head = { size, root, note: signCheckpoint(size, root, signers), signed_at: new Date() };
      await this.heads.advance(head);
    } else if (!isSignedBy(head, signers)) {
      head = { ...head, note: signCheckpoint(size, head.root, signers) };
      await this.heads.signAgain(size, head.note);
    }
    return head;
  }

  /** The last checkpoint; `undefined` if none has been signed. */
  head(): Promise<LogHead | undefined> {
    return this.heads.read();
  }

  /**
   * Proves a record in the log as it was signed last.
   *
   * @param index its number @returns `undefined` if it was appended after that
   * @throws LogAlteredError if the log does not hold this record there
   */
  async prove(record: string, index: number): Promise<Inclusion | undefined> {
    const head = await this.heads.read();
    if (!head || index >= head.size) return undefined;
    const proof = await inclusionProof(index, head.size, readFromTiles(this.read));
    if (!isIncluded(leafHash(record), index, head.size, head.root, proof)) throw altered();
    return { proof, head };
  }

  /** Proof that the log of one size is the beginning of the log of another. Both at least 1, and not beyond the last checkpoint. */
  consistency(from: number, to: number): Promise<Buffer[]> {
    return consistencyProof(from, to, readFromTiles(this.read));
  }

  /** A tile as it was in a log of a size; `undefined` if there was none so wide. @param size not beyond the last checkpoint */
  async tile(key: TileKey, width: number, size: number): Promise<Buffer | undefined> {
    if (widthOf(key, size) < width) return undefined;
    const [tile] = await this.tiles.read([key]);
    return tile && Buffer.concat(tile.hashes.slice(0, width));
  }

  private readonly read: TileReader = (keys) => this.tiles.read(keys);
}

/** The root follows from the tiles that are not full. */
function rootOf(size: number, edge: Tile[]): Promise<Buffer> {
  return rootHash(
    size,
    readFromTiles(async () => edge),
  );
}

/** The tiles that are not full in a log of a size, among those that are known: the last of each key, cut to its width. */
function nextEdge(size: number, known: readonly Tile[]): Tile[] {
  return edgeOf(size).map((key) => {
    const tile = known.findLast(({ level, index }) => level === key.level && index === key.index);
    return { ...key, hashes: tile?.hashes.slice(0, widthOf(key, size)) ?? [] };
  });
}

function isSignedBy({ note }: LogHead, signers: readonly NoteSigner[]): boolean {
  return signers.every(({ verifier }) => openedBy(note, [verifier]));
}

function altered(): Error {
  return new LogAlteredError('the tree of the log is not the one that was signed');
}
