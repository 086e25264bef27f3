import assert from 'node:assert/strict';
import { LogLeaves } from '../src/leaves.js';
import { LogAlteredError } from '../src/log-altered.js';
import { TILE_WIDTH, type Tile, type TileKey } from '../src/tiles.js';

const leaf = Buffer.alloc(32, 1);
const full = (index: number): Tile => ({ level: 0, index, hashes: Array(TILE_WIDTH).fill(leaf) });

/** Leaves over tiles of which each read sees some. */
function leavesOver(...reads: Tile[][]): LogLeaves {
  const read = (keys: readonly TileKey[]) => {
    const seen = reads.length > 1 ? reads.shift() : reads[0];
    return Promise.resolve((seen ?? []).filter(({ index }) => keys.some((key) => key.index === index)));
  };
  return new LogLeaves({ read, grow: async () => false }, async () => 0);
}

describe('the leaves of the log', () => {
  it('are not said to be missing because a read saw the second of two tiles that were written meanwhile', async () => {
    const narrow = { ...full(0), hashes: [leaf] };
    for (const torn of [[full(1)], [narrow, full(1)]])
      assert.equal(await leavesOver(torn, [full(0), full(1)]).size(), 2 * TILE_WIDTH);
  });

  it('end with a tile that is not full, also if it is the last of those that are read at once', async () => {
    const narrow = { ...full(15), hashes: [leaf] };
    const tiles = [...Array.from({ length: 15 }, (_, index) => full(index)), narrow];
    assert.equal(await leavesOver(tiles).size(), 15 * TILE_WIDTH + 1);
    assert.equal(await leavesOver([...tiles.slice(0, 15), full(15)]).size(), 16 * TILE_WIDTH);
  });

  it('are said to be missing when they still are', async () => {
    await assert.rejects(leavesOver([full(1)]).size(), LogAlteredError);
    await assert.rejects(leavesOver([full(0), full(2)]).from(0), LogAlteredError);
  });
});
