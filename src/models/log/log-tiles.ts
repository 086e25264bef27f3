import type { LeafStore, Tile, TileKey } from '../../../packages/tlog/src/index.js';
import { HASH_BYTES } from '../../../packages/tlog/src/index.js';
import { LogAlteredError } from '../../domain/log/log-altered.js';
import { collection, type DocumentIn, must, repositoryOf } from '../mongo/collection.js';
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
});

/** The tiles of the tree, as they are stored. */
export class LogTiles extends repositoryOf(tiles) implements LeafStore {
  /** Those tiles that there are, in any order. @throws LogAlteredError if one is of another type */
  async read(keys: readonly TileKey[]): Promise<Tile[]> {
    if (keys.length === 0) return [];
    const found = await this.model.find({ _id: { $in: keys.map(idOf) } }).lean();
    return found.map(({ _id, hashes, width }) => {
      const [level = 0, index = 0] = _id.split('/').map(Number);
      const bytes = bytesOf(hashes);
      // Nobody could widen one that says another width than it has.
      if (level === 0 && bytes && bytes.length < width * HASH_BYTES)
        throw new LogAlteredError(
          'leaves_missing',
          `leaves of the log are missing: its tile ${_id} is too short`,
        );
      if (bytes?.length !== width * HASH_BYTES)
        throw new LogAlteredError(
          'tree_altered',
          `the log is not the one that was signed: its tile ${_id} is none`,
        );
      return { level, index, hashes: splitHashes(bytes) };
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
    return wasMade(this.model.collection.insertOne({ _id: _id as never, ...grown }));
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

/** Bytes as the driver reads them: a buffer, or its own wrapper of one; `undefined` if something else stands there. */
export function bytesOf(stored: unknown): Buffer | undefined {
  if (Buffer.isBuffer(stored)) return stored;
  const { _bsontype, buffer } = (stored ?? {}) as { _bsontype?: unknown; buffer?: unknown };
  return _bsontype === 'Binary' && buffer instanceof Uint8Array
    ? Buffer.from(buffer.buffer, buffer.byteOffset, buffer.byteLength)
    : undefined;
}

/** Hashes that stand one after the other. */
export function splitHashes(bytes: Buffer): Buffer[] {
  return Array.from({ length: Math.floor(bytes.length / HASH_BYTES) }, (_, at) =>
    bytes.subarray(at * HASH_BYTES, (at + 1) * HASH_BYTES),
  );
}
