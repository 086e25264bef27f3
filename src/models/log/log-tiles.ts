import { LogAlteredError } from '../../domain/log/log-altered.js';
import { HASH_BYTES } from '../../domain/log/merkle-tree.js';
import type { Tile, TileKey } from '../../domain/log/tiles.js';
import { sharedDate } from '../../domain/time/shared-time.js';
import { collection, type DocumentIn, may, must, repositoryOf } from '../mongo/collection.js';
import { wasMade } from '../mongo/duplicate-key.js';
import { insertOrRaise } from '../mongo/insert-missing.js';

/**
 * The tiles of the tree (see `Tile`). Those of level 0 hold the leaves: they say what the log holds; all else follows
 * from them.
 */
const tiles = collection('log_tiles', {
  /** Level and index, such as `0/17`. */
  _id: must(String),
  /** How many hashes it has. It only grows. */
  width: must(Number),
  /** The hashes, one after the other. */
  hashes: must<Buffer>(Buffer),
  /** Of a tile of leaves: when its first one was appended. */
  began_at: may(Date),
});

/** The tiles of the tree, as they are stored. */
export class LogTiles extends repositoryOf(tiles) {
  /** Those tiles that there are, in any order. @throws LogAlteredError if one is of another type */
  async read(keys: readonly TileKey[]): Promise<Tile[]> {
    if (keys.length === 0) return [];
    const found = await this.model.find({ _id: { $in: keys.map(idOf) } }).lean();
    return found.map(({ _id, hashes }) => {
      const [level = 0, index = 0] = _id.split('/').map(Number);
      return { level, index, hashes: splitHashes(_id, hashes) };
    });
  }

  /**
   * Makes a tile wider, if it is still as it was read.
   *
   * @param width how many of the hashes it has already; 0: there is no such tile
   * @returns whether it was; if not, somebody else was faster
   */
  async grow(tile: Tile, width: number): Promise<boolean> {
    const { _id, ...grown } = toDocument(tile);
    if (width > 0) return (await this.model.updateOne({ _id, width }, { $set: grown })).modifiedCount === 1;
    return wasMade(this.model.collection.insertOne({ _id: _id as never, ...grown, began_at: sharedDate() }));
  }

  /** When the first leaf of a tile of leaves was appended; `undefined` if there is no such tile. */
  async begunAt(index: number): Promise<Date | undefined> {
    const found = await this.model.findOne({ _id: idOf({ level: 0, index }) }, { began_at: 1 }).lean();
    // Whoever writes to the database may have written anything.
    return found?.began_at instanceof Date ? found.began_at : undefined;
  }

  /** Keeps tiles that follow from others, unless wider ones are there: another process is ahead. */
  async write(made: readonly Tile[]): Promise<void> {
    await insertOrRaise(this.model, made.map(toDocument), 'width');
  }
}

function toDocument(tile: Tile): DocumentIn<typeof tiles> {
  return { _id: idOf(tile), width: tile.hashes.length, hashes: Buffer.concat(tile.hashes) };
}

function idOf({ level, index }: TileKey): string {
  return `${level}/${index}`;
}

/** @param stored as the driver reads it: bytes, or its own wrapper of them; or what somebody else has written */
function splitHashes(id: string, stored: Buffer | { buffer: Uint8Array }): Buffer[] {
  const wrapped = Buffer.isBuffer(stored) ? stored : (stored as { buffer?: unknown } | null)?.buffer;
  if (!(wrapped instanceof Uint8Array))
    throw new LogAlteredError(
      'tree_altered',
      `the log is not the one that was signed: its tile ${id} is none`,
    );
  const bytes = Buffer.from(wrapped.buffer, wrapped.byteOffset, wrapped.byteLength);
  return Array.from({ length: bytes.length / HASH_BYTES }, (_, at) =>
    bytes.subarray(at * HASH_BYTES, (at + 1) * HASH_BYTES),
  );
}
