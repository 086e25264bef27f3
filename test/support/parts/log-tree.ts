import {
  edgeOf,
  growTiles,
  readFromTiles,
  type Tile,
  type TileReader,
  tilePath,
} from '../../../packages/tlog/src/index.js';

/** A tree in memory, in tiles. */
export class TreeInMemory {
  size = 0;
  private readonly tiles = new Map<string, Tile>();
  private readonly readTiles: TileReader = async (keys) =>
    keys.flatMap(({ level, index }) => this.tiles.get(`${level}/${index}`) ?? []);
  readonly read = readFromTiles(this.readTiles);

  constructor(leaves: readonly Buffer[] = []) {
    this.append(leaves);
  }

  append(leaves: readonly Buffer[]): void {
    const edge = edgeOf(this.size).flatMap(({ level, index }) => this.tiles.get(`${level}/${index}`) ?? []);
    for (const tile of growTiles(this.size, edge, leaves))
      this.tiles.set(`${tile.level}/${tile.index}`, tile);
    this.size += leaves.length;
  }

  /** All tiles, base64, by the paths that Go's `tlog` has. */
  paths(): Record<string, string> {
    const named = [...this.tiles.values()].map((tile) => [
      `tile/8/${tilePath(tile, tile.hashes.length)}`,
      Buffer.concat(tile.hashes).toString('base64'),
    ]);
    return Object.fromEntries(named);
  }
}
