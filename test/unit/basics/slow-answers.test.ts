import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { SlowAnswers } from '../../../src/domain/basics/slow-answers.js';
import { clockOfEach, mockMonotonic } from '../../support/clock.js';

describe('slow answers', () => {
  clockOfEach(1_000_000);
  beforeEach(() => mockMonotonic(() => Date.now()));

  /** Answers with a number that counts up, each time when it is told to. */
  function questions() {
    const answers = new SlowAnswers<{ number: number }>(10);
    const waiting: { resolve: () => void; reject: () => void }[] = [];
    let asked = 0;
    const ask = () => {
      asked += 1;
      const number = asked;
      return new Promise<{ number: number }>((resolve, reject) =>
        waiting.push({ resolve: () => resolve({ number }), reject: () => reject(new Error('no')) }),
      );
    };
    const get = async () => (await answers.get('how many?', ask)).number;
    const answer = async (tookMs: number) => {
      mock.timers.tick(tookMs);
      waiting.shift()?.resolve();
      await turn();
    };
    const fail = async () => {
      waiting.shift()?.reject();
      await turn();
    };
    return { get, answer, fail, asked: () => asked };
  }

  it('are shared by equal questions at the same time, and for a second', async () => {
    const { get, answer, asked } = questions();
    const both = [get(), get()];
    await answer(100);
    assert.deepEqual(await Promise.all(both), [1, 1]);
    mock.timers.tick(900);
    assert.equal(await get(), 1);
    assert.equal(asked(), 1);
  });

  it('are given again while a newer one is made, the longer the longer they took', async () => {
    const { get, answer } = questions();
    const first = get();
    await answer(500);
    assert.equal(await first, 1);
    mock.timers.tick(4_000);
    assert.equal(await get(), 1);
    await answer(10);
    assert.equal(await get(), 2);
    mock.timers.tick(1_500);
    const third = get();
    await answer(10);
    assert.equal(await third, 3, 'one that took 10 ms is not given after a second');
  });

  it('that fail are not remembered, and do not stand in the way', async () => {
    const { get, answer, fail } = questions();
    const first = assert.rejects(get());
    await fail();
    await first;
    const second = get();
    await answer(500);
    assert.equal(await second, 2);
    mock.timers.tick(2_000);
    assert.equal(await get(), 2);
    await fail();
    assert.equal(await get(), 2);
    await answer(1);
    assert.equal(await get(), 4);
  });
});
