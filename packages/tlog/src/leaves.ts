import pLimit from 'p-limit';
import { LogAlteredError } from './log-altered.js';
import { leafHash } from './merkle-tree.js';
import { RecentLeaves } from './recent-leaves.js';
import { type LeafStore, TILE_WIDTH, type Tile } from './tiles.js';

/** Times that another process was faster, after which an append is given up. */
const MAX_CONFLICTS = 100;
/** Tiles that are read at once. */
const TILES_AT_ONCE = 16;

/** Leaves that follow one another without any other between them. */
type Run = readonly Buffer[];

/** The leaves of the log, which are the tiles of level 0. Any number of processes may append. */
export class LogLeaves {
  private readonly tiles: LeafStore;
  private readonly signedSize: () => Promise<number>;
  private readonly oneAtATime = pLimit(1);
  /** Runs of the next append of this process, which waits for the one under way. */
  private next: { runs: Run[]; firsts: Promise<number[]> } | undefined;
  /** The last tile, as far as this process knows. */
  private last: Tile | undefined;
  private readonly recent = new RecentLeaves();

  /** @param signedSize leaves that there are at least */
  constructor(tiles: LeafStore, signedSize: () => Promise<number>) {
    this.tiles = tiles;
    this.signedSize = signedSize;
  }

  /**
   * Appends runs of leaves. A run that is already complete among the last few thousand leaves is skipped: a process
   * that stopped before noting its number appends it again.
   *
   * A tile is written only if it is as wide as was read, and the next one only after it is full: so no leaf changes and
   * there is no gap, even if others append, or this process is stopped at any point. If another process appends in the
   * middle of a run, the part that was appended stays there, and the run is appended once more.
   *
   * @param runs none of them empty @returns the numbers of their first leaves
   */
  append(runs: readonly Run[]): Promise<number[]> {
    this.next ??= this.appendNext();
    const { runs: together, firsts } = this.next;
    const end = together.push(...runs);
    return firsts.then((all) => all.slice(end - runs.length, end));
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
    for (let done = 0; done < indexes.length; done += TILES_AT_ONCE) {
      const some = indexes.slice(done, done + TILES_AT_ONCE).map((index) => ({ level: 0, index }));
      for (const tile of await this.tiles.read(some)) tiles.set(tile.index, tile);
    }
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

  /** Appends what has been added by its turn, all of it together. */
  private appendNext() {
    const runs: Run[] = [];
    const firsts = this.oneAtATime(async () => {
      this.next = undefined;
      try {
        return await this.appendNow(runs);
      } catch (error) {
        // Whether the tile was written is not known.
        this.last = undefined;
        throw error;
      }
    });
    return { runs, firsts };
  }

  private async appendNow(runs: readonly Run[]): Promise<number[]> {
    const keys = runs.map(keyOfRun);
    /** The first leaves of runs that were appended now, and of those that were there. */
    const firsts = new Map<string, number>();
    const again = new Map<string, number>();
    for (let conflicts = 0; ; ) {
      this.last ??= await this.findRecent();
      const missing = new Map<string, Run>();
      for (const [at, run] of runs.entries()) {
        const key = keys[at] ?? '';
        if (firsts.has(key) || again.has(key)) continue;
        const first = this.recent.findRun(run);
        if (first === undefined) missing.set(key, run);
        else again.set(key, first);
      }
      if (missing.size === 0) break;
      if (await this.growBy(missing, firsts)) continue;
      this.last = undefined;
      conflicts += 1;
      if (conflicts > MAX_CONFLICTS) throw new Error('the log grew faster than this process could append');
    }
    await this.requireStored(new Map(runs.flatMap((run, at) => numbersOf(run, again.get(keys[at] ?? '')))));
    const all = new Map([...again, ...firsts]);
    return keys.map((key) => numberOf(key, all));
  }

  /**
   * Appends runs, tile after tile, behind the last tile as this process knows it.
   *
   * @param firsts takes their first numbers, of those that are there whole @returns whether nobody came in between
   */
  private async growBy(runs: ReadonlyMap<string, Run>, firsts: Map<string, number>): Promise<boolean> {
    let last = this.last ?? { level: 0, index: 0, hashes: [] };
    const start = last.index * TILE_WIDTH + last.hashes.length;
    const hashes = [...runs.values()].flat();
    const ends: [string, number, number][] = [];
    let end = start;
    for (const [key, run] of runs) {
      ends.push([key, end, end + run.length]);
      end += run.length;
    }
    for (let done = 0; done < hashes.length; ) {
      const { index, hashes: own } = nextOf(last);
      const taken = hashes.slice(done, done + TILE_WIDTH - own.length);
      const grown: Tile = { level: 0, index, hashes: [...own, ...taken] };
      if (!(await this.tiles.grow(grown, own.length))) return false;
      done += taken.length;
      last = grown;
      this.last = grown;
      this.recent.add(grown);
      for (const [key, first, behind] of ends) if (behind <= start + done) firsts.set(key, first);
    }
    return true;
  }

  /**
   * @throws if leaves that are remembered are not stored any more: another database was put in the place of this one
   */
  private async requireStored(remembered: ReadonlyMap<number, Buffer>): Promise<void> {
    if (remembered.size === 0) return;
    const stored = await this.at([...remembered.keys()]);
    if ([...remembered].every(([number, hash]) => stored.get(number)?.equals(hash))) return;
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
      if (!last) return this.lastBefore(index);
      if (found.length < TILES_AT_ONCE || last.hashes.length < TILE_WIDTH) return last;
      index += TILES_AT_ONCE;
    }
  }

  /** The place of the first tile behind full ones. @throws LogAlteredError if the one before is not there, and full */
  private async lastBefore(index: number): Promise<Tile> {
    const [before] = index > 0 ? await this.tiles.read([{ level: 0, index: index - 1 }]) : [];
    if (index > 0 && before?.hashes.length !== TILE_WIDTH)
      throw new LogAlteredError('leaves_missing', 'leaves of the log are missing');
    return { level: 0, index, hashes: [] };
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

/** The leaves of a run by their numbers. @param first absent: of none */
function numbersOf(run: Run, first: number | undefined): [number, Buffer][] {
  return first === undefined ? [] : run.map((hash, at) => [first + at, hash]);
}

/** @throws if the run has none: whoever notes a number must have the right one */
function numberOf(key: string, firsts: ReadonlyMap<string, number>): number {
  const first = firsts.get(key);
  if (first === undefined) throw new Error('a run that was appended has no number');
  return first;
}

function keyOfRun(run: Run): string {
  return run.length === 1
    ? (run[0]?.toString('latin1') ?? '')
    : leafHash(Buffer.concat(run)).toString('latin1');
}
