import type { LogLeaves } from '../../../packages/tlog/src/index.js';
import { edgeAmong, growTiles, rootOfEdge, type Tile } from '../../../packages/tlog/src/index.js';
import { UNITS } from '../../domain/basics/duration.js';
import { LogAlteredError } from '../../domain/log/log-altered.js';
import { sharedNow } from '../../domain/time/shared-time.js';
import type { LogTiles } from './log-tiles.js';

/** A process looks at the whole log when it first signs, and then once in this time, milliseconds. */
const AUDIT_EVERY_MS = UNITS.d;

/** The tree that is looked at. */
interface SignedTree {
  size: number;
  root: Buffer;
}

/**
 * Looks at every stored tile of a signed tree: each hash above the leaves is made again from them, and compared. If
 * only the edge of the tree were read to sign it, a changed tile far to the left would go unnoticed. A million leaves
 * take about two seconds; what is found is kept between calls, so that one call may look at a part.
 */
export class LogAudit {
  private readonly tiles: LogTiles;
  private readonly leaves: LogLeaves;
  private readonly everyMs: number;
  private underWay: { tree: SignedTree; size: number; edge: Tile[] } | undefined;
  private doneAt = Number.NEGATIVE_INFINITY;

  constructor(tiles: LogTiles, leaves: LogLeaves, everyMs = AUDIT_EVERY_MS) {
    this.tiles = tiles;
    this.leaves = leaves;
    this.everyMs = everyMs;
  }

  /**
   * Goes on looking, if it is time to.
   *
   * @param tree as it was signed last @param until when to stop, milliseconds since the epoch
   * @returns whether all was looked at within the time after which it is to be done again
   * @throws LogAlteredError if a tile is not what it was
   */
  async goOn(tree: SignedTree, until: number): Promise<boolean> {
    // By a clock that access to MongoDB does not suffice to stop.
    if (performance.now() - this.doneAt < this.everyMs) return true;
    this.underWay ??= { tree, size: 0, edge: [] };
    const state = this.underWay;
    try {
      while (state.size < state.tree.size) {
        if (sharedNow() >= until) return false;
        await this.lookAtSome(state);
      }
      if (!(await rootOfEdge(state.size, state.edge)).equals(state.tree.root)) throw altered('its root');
    } catch (error) {
      this.underWay = undefined;
      throw error;
    }
    this.underWay = undefined;
    this.doneAt = performance.now();
    return true;
  }

  private async lookAtSome(state: { tree: SignedTree; size: number; edge: Tile[] }): Promise<void> {
    const leaves = (await this.leaves.from(state.size)).slice(0, state.tree.size - state.size);
    if (leaves.length === 0)
      throw new LogAlteredError('leaves_missing', `leaf ${state.size} of the log is missing`);
    const grown = growTiles(state.size, state.edge, leaves);
    await this.compare(grown.filter(({ level }) => level > 0));
    state.size += leaves.length;
    state.edge = edgeAmong(state.size, [...state.edge, ...grown]);
  }

  /** @param made tiles as they follow from the leaves */
  private async compare(made: readonly Tile[]): Promise<void> {
    const stored = await this.tiles.read(made);
    for (const { level, index, hashes } of made) {
      const found = stored.find((tile) => tile.level === level && tile.index === index)?.hashes ?? [];
      if (hashes.some((hash, at) => !found[at]?.equals(hash))) throw altered(`its tile ${level}/${index}`);
    }
  }
}

function altered(what: string): LogAlteredError {
  return new LogAlteredError('tree_altered', `the log is not the one that was signed: ${what} is another`);
}
