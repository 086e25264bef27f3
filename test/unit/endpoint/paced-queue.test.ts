import assert from 'node:assert/strict';
import { Turns } from '../../../src/temporal/write/turns.js';

/** Longer than a test may take. */
const LONG_MS = 600_000;

describe('turns', () => {
  it('come in the order in which they are asked for, so many in a period', async () => {
    const turns = new Turns(2, 50);
    const began = performance.now();
    const order: string[] = [];
    await Promise.all(
      ['a', 'b', 'c', 'd', 'e'].map(async (name) => {
        assert.equal(await turns.take(name), true);
        order.push(name);
      }),
    );
    assert.deepEqual(order, ['a', 'b', 'c', 'd', 'e']);
    assert.ok(performance.now() - began >= 90, 'the fifth came in the third period');
  });

  it('are given up without a cost to others', async () => {
    const turns = new Turns(1, 50);
    await turns.take('first');
    const given = Array.from({ length: 1_000 }, (_, index) => turns.take(`given up ${index}`));
    const wanted = turns.take('wanted');
    for (const index of given.keys()) turns.giveUp(`given up ${index}`);
    assert.ok((await Promise.all(given)).every((hasCome) => !hasCome));
    assert.equal(await wanted, true);
  });

  it('are given up by who asks again, and go to the end', async () => {
    const turns = new Turns(1, 10);
    await turns.take('first');
    const [again, other] = [turns.take('again'), turns.take('other')];
    const last = turns.take('again');
    assert.deepEqual(await Promise.all([again, other, last]), [false, true, true]);
  });

  it('are all given up by a stop, and those that are asked for later', async () => {
    const turns = new Turns(1, LONG_MS);
    await turns.take('first');
    const waiting = turns.take('waiting');
    turns.stop();
    assert.equal(await waiting, false);
    assert.equal(await turns.take('late'), false);
  });
});
