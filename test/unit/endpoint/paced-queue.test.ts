import assert from 'node:assert/strict';
import { PacedQueue } from '../../../src/temporal/write/paced-queue.js';

/** Longer than a test may take. */
const LONG_MS = 600_000;

describe('a paced queue', () => {
  it('lets those that wait go on in their order, so many in a period', async () => {
    const queue = new PacedQueue(2, 50);
    const began = performance.now();
    const order: string[] = [];
    await Promise.all(
      ['a', 'b', 'c', 'd', 'e'].map(async (name) => {
        assert.equal(await queue.wait(name), true);
        order.push(name);
      }),
    );
    assert.deepEqual(order, ['a', 'b', 'c', 'd', 'e']);
    assert.ok(performance.now() - began >= 90, 'the fifth goes on in the third period');
  });

  it('loses nothing by those who leave it', async () => {
    const queue = new PacedQueue(1, 50);
    await queue.wait('first');
    const leaving = Array.from({ length: 1_000 }, (_, index) => queue.wait(`leaving ${index}`));
    const wanted = queue.wait('wanted');
    for (const index of leaving.keys()) queue.leave(`leaving ${index}`);
    assert.ok((await Promise.all(leaving)).every((mayGoOn) => !mayGoOn));
    assert.equal(await wanted, true);
  });

  it('has each name once: who comes again goes on with who came first', async () => {
    const queue = new PacedQueue(1, 10);
    await queue.wait('first');
    const order: string[] = [];
    await Promise.all(
      ['again', 'other', 'again'].map(async (name) => {
        assert.equal(await queue.wait(name), true);
        order.push(name);
      }),
    );
    assert.deepEqual(order, ['again', 'again', 'other']);
  });

  it('lets those that were promoted go on first, in their order, and forgets who has left', async () => {
    const queue = new PacedQueue(1, 10);
    await queue.wait('first');
    const order: string[] = [];
    const all = ['a', 'b', 'c', 'd', 'e'].map(async (name) => {
      if (await queue.wait(name)) order.push(name);
    });
    for (const name of ['d', 'c', 'e', 'not there']) queue.promote(name);
    queue.leave('d');
    await Promise.all(all);
    assert.deepEqual(order, ['c', 'e', 'a', 'b']);
  });

  it('lets nobody go on while it rests', async () => {
    const queue = new PacedQueue(10, 10);
    await queue.wait('first');
    const began = performance.now();
    queue.rest(100);
    queue.rest(1);
    assert.equal(await queue.wait('second'), true);
    assert.ok(performance.now() - began >= 100);
  });

  it('ends its rest once it is stopped', async () => {
    const queue = new PacedQueue(10, 10);
    queue.rest(LONG_MS);
    const waiting = queue.wait('waiting');
    queue.stop();
    assert.equal(await waiting, false);
  });

  it('lets nobody go on once it is stopped', async () => {
    const queue = new PacedQueue(1, LONG_MS);
    await queue.wait('first');
    const waiting = queue.wait('waiting');
    queue.stop();
    assert.equal(await waiting, false);
    assert.equal(await queue.wait('late'), false);
  });
});
