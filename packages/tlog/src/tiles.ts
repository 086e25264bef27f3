import { LogAlteredError } from './log-altered.js';
import { type NodeReader, nodeHash, rootHash, type TreeNode } from './merkle-tree.js';

/** Levels of the tree that one tile spans (C2SP tlog-tiles). */
const TILE_HEIGHT = 8;
/** Hashes in a full tile. */
export const TILE_WIDTH = 2 ** TILE_HEIGHT;

/**
 * Which tile. A tile of level L holds hashes of complete subtrees of `256 ** L` leaves: those numbered from
 * `index * 256` on, at most 256. All other hashes of the tree follow from them, so that a million leaves make 3,924
 * tiles, and a proof reads three or four.
 */
export interface TileKey {
  level: number;
  index: number;
}

/** A tile with its hashes, the leftmost first. */
export interface Tile extends TileKey {
  hashes: Buffer[];
}

/**
 * Reads tiles, in the order in which they are asked for. A tile may hold more hashes than the tree had when it was
 * asked for.
 */
export type TileReader = (keys: readonly TileKey[]) => Promise<Tile[]>;

/** Where the tiles of level 0 are kept, which hold the leaves. */
export interface LeafStore {
  /** Those tiles that there are, in any order. */
  read: TileReader;
  /**
   * Makes a tile wider, if it is still as it was read.
   *
   * @param width how many of the hashes it has already; 0: there is no such tile
   * @returns whether it was; if not, somebody else was faster
   */
  grow(tile: Tile, width: number): Promise<boolean>;
}

/** Reads hashes of the tree from its tiles, each tile once. */
export function readFromTiles(readTiles: TileReader): NodeReader {
  return async (nodes) => {
    const keys = new Map(nodes.map(tileOf).map((key) => [nameOf(key), key]));
    const tiles = new Map((await readTiles([...keys.values()])).map((tile) => [nameOf(tile), tile]));
    return nodes.map((node) => hashInTile(node, tiles.get(nameOf(tileOf(node)))));
  };
}

/** How many hashes a tile holds in a tree of `size` leaves; 0: there is no such tile. */
export function widthOf({ level, index }: TileKey, size: number): number {
  const hashes = Math.floor(size / TILE_WIDTH ** level);
  return Math.max(0, Math.min(TILE_WIDTH, hashes - index * TILE_WIDTH));
}

/** The tiles at the right edge of a tree, which are not full yet: those that grow with the next leaves. */
export function edgeOf(size: number): TileKey[] {
  const keys: TileKey[] = [];
  for (let level = 0, hashes = size; hashes > 0; level += 1, hashes = Math.floor(hashes / TILE_WIDTH)) {
    if (hashes % TILE_WIDTH > 0) keys.push({ level, index: Math.floor(hashes / TILE_WIDTH) });
  }
  return keys;
}

/**
 * The tiles of {@link edgeOf}, among those that are known: the last of each key, cut to the width that it has in a tree
 * of this size.
 */
export function edgeAmong(size: number, known: readonly Tile[]): Tile[] {
  return edgeOf(size).map((key) => {
    const tile = known.findLast(({ level, index }) => level === key.level && index === key.index);
    return { ...key, hashes: tile?.hashes.slice(0, widthOf(key, size)) ?? [] };
  });
}

/** The root of a tree, which follows from the tiles at its edge. @throws LogAlteredError if a hash is missing */
export function rootOfEdge(size: number, edge: readonly Tile[]): Promise<Buffer> {
  return rootHash(
    size,
    readFromTiles(async () => [...edge]),
  );
}

/**
 * Adds leaves to a tree.
 *
 * @param size leaves that it has
 * @param edge the tiles of {@link edgeOf}, with the hashes that a tree of this size has
 * @param leaves their hashes
 * @returns the tiles that are new or have grown, those of lower levels first
 */
export function growTiles(size: number, edge: readonly Tile[], leaves: readonly Buffer[]): Tile[] {
  const grown: Tile[] = [];
  let hashes: readonly Buffer[] = leaves;
  for (let level = 0, count = size; hashes.length > 0; level += 1, count = Math.floor(count / TILE_WIDTH)) {
    const above: Buffer[] = [];
    let index = Math.floor(count / TILE_WIDTH);
    let own = edge.find((tile) => tile.level === level && tile.index === index)?.hashes ?? [];
    for (let used = 0; used < hashes.length; index += 1) {
      const taken = hashes.slice(used, used + TILE_WIDTH - own.length);
      used += taken.length;
      own = [...own, ...taken];
      grown.push({ level, index, hashes: own });
      if (own.length === TILE_WIDTH) above.push(fold(own));
      own = [];
    }
    hashes = above;
  }
  return grown;
}

/** The path of a tile as C2SP tlog-tiles has it, such as `0/x001/067` or, for one that is not full, `1/003.p/17`. */
export function tilePath({ level, index }: TileKey, width: number): string {
  const groups: string[] = [];
  for (let rest = index; groups.length === 0 || rest > 0; rest = Math.floor(rest / 1_000)) {
    groups.unshift(`${groups.length > 0 ? 'x' : ''}${String(rest % 1_000).padStart(3, '0')}`);
  }
  return `${level}/${groups.join('/')}${width < TILE_WIDTH ? `.p/${width}` : ''}`;
}

const TILE_PATH = /^(\d|[1-5]\d|6[0-3])\/((?:x\d{3}\/){0,4}\d{3})(?:\.p\/([1-9]\d{0,2}))?$/;

/** Reads a path of {@link tilePath}; `undefined` if it is not one. */
export function parseTilePath(path: string): { key: TileKey; width: number } | undefined {
  const [, level, groups = '', partial] = TILE_PATH.exec(path) ?? [];
  if (level === undefined) return undefined;
  const key = { level: Number(level), index: Number(groups.replace(/[x/]/g, '')) };
  const width = partial === undefined ? TILE_WIDTH : Number(partial);
  return tilePath(key, width) === path ? { key, width } : undefined;
}

function nameOf({ level, index }: TileKey): string {
  return `${level}/${index}`;
}

function tileOf({ level, index }: TreeNode): TileKey {
  const below = level % TILE_HEIGHT;
  return {
    level: Math.floor(level / TILE_HEIGHT),
    index: Math.floor((index * 2 ** below) / TILE_WIDTH),
  };
}

function hashInTile({ level, index }: TreeNode, tile: Tile | undefined): Buffer {
  const width = 2 ** (level % TILE_HEIGHT);
  const start = (index * width) % TILE_WIDTH;
  const hashes = tile?.hashes.slice(start, start + width) ?? [];
  if (hashes.length < width)
    throw new LogAlteredError(
      level < TILE_HEIGHT ? 'leaves_missing' : 'tree_altered',
      `hash ${level}/${index} of the log is missing`,
    );
  return fold(hashes);
}

/** The hash of a complete subtree, from hashes of subtrees of one size; their number is a power of two. */
function fold(hashes: readonly Buffer[]): Buffer {
  let row = hashes;
  while (row.length > 1) {
    const above: Buffer[] = [];
    for (let at = 0; at < row.length; at += 2) above.push(nodeHash(row[at] as Buffer, row[at + 1] as Buffer));
    row = above;
  }
  return row[0] as Buffer;
}
