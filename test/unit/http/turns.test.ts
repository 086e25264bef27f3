import assert from 'node:assert/strict';
import { setImmediate as nextRound } from 'node:timers/promises';
import { Turns } from '../../../src/api/http/bounds/turns.js';

describe('turns of large requests', () => {
  /** Takes turns for these owners at once, and tells whose came in each round of the event loop. */
  async function roundsOf(owners: readonly string[]): Promise<string[][]> {
    const turns = new Turns();
    const had: string[] = [];
    for (const owner of owners) void turns.take(owner).then(() => had.push(owner));
    const rounds: string[][] = [];
    for (let left = owners.length; left > 0; left -= rounds.at(-1)?.length ?? 0) {
      await nextRound();
      rounds.push(had.splice(0));
    }
    return rounds;
  }

  it('come one in each round of the event loop, after one at once', async () => {
    assert.deepEqual(await roundsOf(['a', 'a', 'a', 'a']), [['a', 'a'], ['a'], ['a']]);
  });

  it('go from owner to owner, however many requests one of them has', async () => {
    assert.deepEqual((await roundsOf(['a', 'a', 'a', 'a', 'b', 'c'])).flat(), ['a', 'a', 'b', 'c', 'a', 'a']);
  });

  it('are free again when nobody waits', async () => {
    const turns = new Turns();
    await turns.take('a');
    await nextRound();
    await nextRound();
    let hadTurn = false;
    void turns.take('b').then(() => {
      hadTurn = true;
    });
    await Promise.resolve();
    assert.ok(hadTurn);
  });
});
