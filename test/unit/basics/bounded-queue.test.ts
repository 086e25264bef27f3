import assert from 'node:assert/strict';
import { boundedQueue, QueueFullError, queuesByKey } from '../../../src/domain/basics/bounded-queue.js';
import { promised } from '../../support/promised.js';

describe('a bounded queue', () => {
  it('runs some at once, queues some, refuses the rest, and accepts others afterwards', async () => {
    const run = boundedQueue({ running: 2, waiting: 3 });
    const { promise: gate, resolve: finish } = promised();
    let active = 0;
    let most = 0;
    const task = async () => {
      active += 1;
      most = Math.max(most, active);
      await gate;
      active -= 1;
    };
    const taken = Array.from({ length: 5 }, () => run(task));
    await assert.rejects(run(task), QueueFullError);
    finish();
    await Promise.all(taken);
    assert.equal(most, 2);
    await run(task);
  });
});

describe('queues by key', () => {
  it('are one for each key, and the least recently used is forgotten', () => {
    const queueOf = queuesByKey(2, 2);
    const one = queueOf('one');
    const other = queueOf('other');
    assert.notEqual(one, other);
    assert.equal(queueOf('one'), one);
    queueOf('third');
    assert.equal(queueOf('one'), one);
    assert.notEqual(queueOf('other'), other);
    assert.equal(one.concurrency, 2);
  });
});
