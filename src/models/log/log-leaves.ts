import { inParts } from '../../domain/basics/bounded-memory.js';
import { LogAlteredError } from '../../domain/log/log-altered.js';
import { TILE_WIDTH, type Tile } from '../../domain/log/tiles.js';
import type { LogTiles } from './log-tiles.js';
import { RecentLeaves } from './recent-leaves.js';

/** Times that another process was faster, after which an append is given up. */
const MAX_CONFLICTS = 100;
/** Tiles that are read at once. */
const TILES_AT_ONCE = 16;

interface Append {
  hashes: readonly Buffer[];
  resolve(numbers: number[]): void;
  reject(error: unknown): void;
}

/** The leaves of the log, which are the tiles of level 0. Any number of processes may append. */
export class LogLeaves {
  private readonly tiles: LogTiles;
  private readonly signedSize: () => Promise<number>;
  /** Appends of this process that wait for the one under way. */
  private readonly waiting: Append[] = [];
  private isAppending = false;
  /** The last tile, as far as this process knows. */
  private last: Tile | undefined;
  private readonly recent = new RecentLeaves();

  /** @param signedSize leaves that there are at least */
  constructor(tiles: LogTiles, signedSize: () => Promise<number>) {
    this.tiles = tiles;
    this.signedSize = signedSize;
  }

  /**
   * Appends leaves, but none that is among the last few thousand already: whoever was stopped before it had noted the
   * number of a leaf appends it again, and so does a run beside another.
   *
   * A tile is written only if it is as wide as was read, and the next one only after it is full: so no leaf changes and
   * there is no gap, whoever else appends, and wherever this one is stopped.
   *
   * @returns their numbers
   */
  append(hashes: readonly Buffer[]): Promise<number[]> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ hashes, resolve, reject });
      if (!this.isAppending) void this.appendWaiting();
    });
  }

  /** The hashes of leaves from a number on, in order, some at once. */
  async from(first: number): Promise<Buffer[]> {
    const start = Math.floor(first / TILE_WIDTH);
    const found = await this.tilesFrom(start);
    return found.flatMap(({ hashes }) => hashes).slice(first - start * TILE_WIDTH);
  }

  /** Leaves by their numbers, those that are stored. Each tile is read once. */
  async at(numbers: readonly number[]): Promise<Map<number, Buffer>> {
    const asked = numbers.filter((number) => Number.isSafeInteger(number) && number >= 0);
    const indexes = [...new Set(asked.map((number) => Math.floor(number / TILE_WIDTH)))];
    const tiles = new Map<number, Tile>();
    for (const some of inParts(indexes, TILES_AT_ONCE))
      for (const tile of await this.tiles.read(some.map((index) => ({ level: 0, index }))))
        tiles.set(tile.index, tile);
    const found = new Map<number, Buffer>();
    for (const number of asked) {
      const hash = tiles.get(Math.floor(number / TILE_WIDTH))?.hashes[number % TILE_WIDTH];
      if (hash) found.set(number, hash);
    }
    return found;
  }

  /** How many there are. @throws LogAlteredError if there is a gap behind what was signed */
  async size(): Promise<number> {
    const { index, hashes } = await this.findLast();
    return index * TILE_WIDTH + hashes.length;
  }

  /** Appends what waits, all of it together: what comes meanwhile waits for the next turn. */
  private async appendWaiting(): Promise<void> {
    this.isAppending = true;
    while (this.waiting.length > 0) {
      const together = this.waiting.splice(0);
      try {
        const numbers = await this.appendNow(together.flatMap(({ hashes }) => hashes));
        for (const { hashes, resolve } of together) resolve(numbers.splice(0, hashes.length));
      } catch (error) {
        // Whether the tile was written is not known.
        this.last = undefined;
        for (const { reject } of together) reject(error);
      }
    }
    this.isAppending = false;
  }

  private async appendNow(hashes: readonly Buffer[]): Promise<number[]> {
    const numbers = new Map<string, number>();
    const again = new Map<string, { hash: Buffer; number: number }>();
    for (let conflicts = 0; ; ) {
      this.last ??= await this.findRecent();
      const missing = new Map<string, Buffer>();
      for (const hash of hashes) {
        const key = hash.toString('latin1');
        if (numbers.has(key) || again.has(key)) continue;
        const number = this.recent.find(hash);
        if (number === undefined) missing.set(key, hash);
        else again.set(key, { hash, number });
      }
      if (missing.size === 0) break;
      const { index, hashes: own } = nextOf(this.last);
      const taken = [...missing].slice(0, TILE_WIDTH - own.length);
      const grown: Tile = { level: 0, index, hashes: [...own, ...taken.map(([, hash]) => hash)] };
      if (await this.tiles.grow(grown, own.length)) {
        this.last = grown;
        this.recent.add(grown);
        for (const [at, [key]] of taken.entries()) numbers.set(key, index * TILE_WIDTH + own.length + at);
      } else {
        this.last = undefined;
        conflicts += 1;
        if (conflicts > MAX_CONFLICTS) throw new Error('the log grew faster than this process could append');
      }
    }
    await this.requireStored([...again.values()]);
    return hashes.map((hash) => {
      const key = hash.toString('latin1');
      return numbers.get(key) ?? again.get(key)?.number ?? -1;
    });
  }

  /**
   * @throws if leaves that are remembered are not stored any more: another database was put in the place of this one
   */
  private async requireStored(remembered: readonly { hash: Buffer; number: number }[]): Promise<void> {
    if (remembered.length === 0) return;
    const stored = await this.at(remembered.map(({ number }) => number));
    if (remembered.every(({ hash, number }) => stored.get(number)?.equals(hash))) return;
    this.recent.clear();
    throw new Error('leaves that this process remembers are not in the log any more');
  }

  /** The last tile; what was appended before it is remembered then. */
  private async findRecent(): Promise<Tile> {
    const last = await this.findLast();
    const before = this.recent.missingBefore(last).map((index) => ({ level: 0, index }));
    for (const tile of (await this.tiles.read(before)).sort((a, b) => a.index - b.index))
      this.recent.add(tile);
    this.recent.add(last);
    return last;
  }

  private async findLast(): Promise<Tile> {
    let index = Math.floor((await this.signedSize()) / TILE_WIDTH);
    for (;;) {
      const found = await this.tilesFrom(index);
      const last = found.at(-1);
      if (found.length < TILES_AT_ONCE) return last ?? { level: 0, index, hashes: [] };
      index += TILES_AT_ONCE;
    }
  }

  /** Tiles from one on, up to the last. @throws LogAlteredError if there is a gap */
  private async tilesFrom(index: number): Promise<Tile[]> {
    const keys = Array.from({ length: TILES_AT_ONCE }, (_, at) => ({ level: 0, index: index + at }));
    const read = async () => (await this.tiles.read(keys)).sort((a, b) => a.index - b.index);
    const found = await read();
    if (!hasGap(found, index)) return found;
    // One read is not of one moment: of two tiles that were written meanwhile it may have the second alone.
    const again = await read();
    if (hasGap(again, index)) throw new LogAlteredError('leaves_missing', 'leaves of the log are missing');
    return again;
  }
}

/** Whether tiles lack a leaf before their last. @param first where they are to begin */
function hasGap(tiles: readonly Tile[], first: number): boolean {
  return tiles.some(
    ({ index, hashes }, at) => index !== first + at || (at < tiles.length - 1 && hashes.length < TILE_WIDTH),
  );
}

/** The tile that the next leaf goes into. */
function nextOf(last: Tile): Tile {
  return last.hashes.length < TILE_WIDTH ? last : { level: 0, index: last.index + 1, hashes: [] };
}
