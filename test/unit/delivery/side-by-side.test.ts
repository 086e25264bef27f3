import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import { createSideBySide } from '../../../activities/delivery/side-by-side.js';

describe('attempts side by side', () => {
  it('are begun in the order in which they are asked for, a few at a time over all groups', async () => {
    const sideBySide = createSideBySide(4);
    const begun: number[] = [];
    const attempt = (item: number) => {
      begun.push(item);
      return new Promise<number>(() => {});
    };
    void sideBySide([1, 2, 3], attempt);
    void sideBySide([4, 5, 6, 7, 8], attempt);
    const counts = [begun.length];
    for (let turn = 0; turn < 4; turn += 1) {
      await setImmediate();
      counts.push(begun.length);
    }
    assert.deepEqual(begun, [1, 2, 3, 4, 5, 6, 7, 8]);
    assert.ok(
      counts.every((count, turn) => count - (counts[turn - 1] ?? 0) <= 4),
      `begun after each turn: ${counts}`,
    );
  });

  it('have their reports in the order of the group; one that fails takes nothing from the others, nor from the next group', async () => {
    const sideBySide = createSideBySide(2);
    const attempt = async (turns: number) => {
      for (let turn = 0; turn < turns; turn += 1) await setImmediate();
      if (turns === 0) throw new Error('could not be made');
      return turns;
    };
    assert.deepEqual(await sideBySide([5, 0, 1, 3], attempt), [5, null, 1, 3]);
    assert.deepEqual(await sideBySide([], attempt), []);
    assert.deepEqual(await sideBySide([2], attempt), [2]);
  });
});
