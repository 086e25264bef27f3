import { TILE_WIDTH, type Tile } from './tiles.js';

/**
 * Tiles of leaves that are remembered: what is appended again was appended a moment ago, by a run that was killed or by
 * one beside it.
 */
export const TILES_REMEMBERED = 16;

/** The last leaves of the log with their numbers. Up to {@link end} none of the last few thousand is missing. */
export class RecentLeaves {
  private readonly numbers = new Map<string, number>();
  /** Leaves below this number are known, as far as they are remembered. */
  private end = 0;

  /** The tiles before the last one that have to be read to know all that is to be remembered. */
  missingBefore(last: Tile): number[] {
    const first = Math.max(Math.floor(this.end / TILE_WIDTH), last.index - TILES_REMEMBERED + 1, 0);
    return Array.from({ length: Math.max(last.index - first, 0) }, (_, at) => first + at);
  }

  /** Adds the leaves of a tile that are not known yet. Tiles are given in their order. */
  add({ index, hashes }: Tile): void {
    const first = index * TILE_WIDTH;
    for (let at = Math.max(this.end - first, 0); at < hashes.length; at += 1)
      this.numbers.set(keyOf(hashes[at]), first + at);
    this.end = Math.max(this.end, first + hashes.length);
    for (const [key] of this.numbers) {
      if (this.numbers.size <= TILES_REMEMBERED * TILE_WIDTH) return;
      this.numbers.delete(key);
    }
  }

  /**
   * The number of the first leaf of a run, if all of it is among the last ones, one leaf after the other. A leaf that
   * is there twice is known by its last number, so that a run can be missed; never is another one taken for it.
   */
  findRun(run: readonly Buffer[]): number | undefined {
    const first = this.numbers.get(keyOf(run[0]));
    if (first === undefined) return undefined;
    return run.every((hash, at) => this.numbers.get(keyOf(hash)) === first + at) ? first : undefined;
  }

  /** Forgets all: the stored leaves are others. */
  clear(): void {
    this.numbers.clear();
    this.end = 0;
  }
}

function keyOf(hash: Buffer | undefined): string {
  return hash?.toString('latin1') ?? '';
}
