import assert from 'node:assert/strict';
import { setImmediate as nextRound } from 'node:timers/promises';
import { inBatches } from '../../../src/domain/basics/batches.js';

describe('work in batches', () => {
  /** Work whose batches end when they are told to. */
  function begin(most: number) {
    const batches: string[][] = [];
    const ends: { resolve(): void; reject(error: Error): void }[] = [];
    const add = inBatches<string>(
      (batch) => {
        batches.push([...batch]);
        return new Promise<void>((resolve, reject) => ends.push({ resolve, reject }));
      },
      (batch) => batch.length < most,
    );
    return { batches, ends, add };
  }

  it('is one batch at a time: what comes meanwhile goes into the next, as far as it fits', async () => {
    const { batches, ends, add } = begin(2);
    const done = [add('a')];
    await nextRound();
    done.push(...['b', 'c', 'd'].map(add));
    await nextRound();
    assert.deepEqual(batches, [['a']]);
    ends[0]?.resolve();
    await nextRound();
    assert.deepEqual(batches, [['a'], ['b', 'c']]);
    ends[1]?.resolve();
    await nextRound();
    ends[2]?.resolve();
    await Promise.all(done);
    assert.deepEqual(batches, [['a'], ['b', 'c'], ['d']]);
  });

  it('goes on after a batch that failed, which is told to those that were in it', async () => {
    const { ends, add } = begin(2);
    const first = add('a');
    await nextRound();
    const second = add('b');
    ends[0]?.reject(new Error('no server'));
    await assert.rejects(first, /no server/);
    await nextRound();
    ends[1]?.resolve();
    await second;
  });
});
