import assert from 'node:assert/strict';
import { setImmediate as nextRound } from 'node:timers/promises';
import { EventLoopTurns } from '../../../src/domain/basics/event-loop-turns.js';

describe('turns in rounds of the event loop', () => {
  /** Takes turns for these owners at once, and tells whose came in each round of the event loop. */
  async function roundsOf(owners: readonly string[], perRound = 1): Promise<string[][]> {
    const turns = new EventLoopTurns(perRound);
    const had: string[] = [];
    for (const owner of owners) turns.take(() => had.push(owner), owner);
    const rounds: string[][] = [];
    for (let left = owners.length; left > 0; left -= rounds.at(-1)?.length ?? 0) {
      await nextRound();
      rounds.push(had.splice(0));
    }
    return rounds;
  }

  it('come so many in each round of the event loop, after as many at once', async () => {
    assert.deepEqual(await roundsOf(['a', 'a', 'a', 'a']), [['a', 'a'], ['a'], ['a']]);
    assert.deepEqual(await roundsOf([...'aaaaaaa'], 2), [['a', 'a', 'a', 'a'], ['a', 'a'], ['a']]);
  });

  it('go from owner to owner, however many requests one of them has', async () => {
    assert.deepEqual((await roundsOf(['a', 'a', 'a', 'a', 'b', 'c'])).flat(), ['a', 'a', 'b', 'c', 'a', 'a']);
  });

  it('are free again when nobody waits', async () => {
    const turns = new EventLoopTurns(1);
    turns.take(() => {}, 'a');
    await nextRound();
    await nextRound();
    let hadTurn = false;
    turns.take(() => {
      hadTurn = true;
    }, 'b');
    assert.ok(hadTurn);
  });
});
