import assert from 'node:assert/strict';
import { inTurns } from '../../../src/domain/access/in-turns.js';
import { promised } from '../../support/promised.js';

describe('the turns of checks', () => {
  /** Checks as they began: the names of their accounts. */
  let began: string[];
  /** Ends the checks that run, the first that began first. */
  let ends: (() => void)[];
  let inTurn: ReturnType<typeof inTurns>;
  beforeEach(() => {
    began = [];
    ends = [];
    inTurn = inTurns(1);
  });

  const check = (account: string, platform = account) =>
    inTurn({ account, platform }, async () => {
      began.push(account);
      const { promise, resolve } = promised();
      ends.push(resolve);
      await promise;
    });
  /** Lets everything go on that can. */
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  /** Runs until nothing waits. @returns the accounts in the order of their checks */
  const runAll = async () => {
    for (await settle(); ends.length > 0; await settle()) ends.shift()?.();
    return began;
  };

  it('are those of platforms: eight accounts of one delay an account of nobody by one check each time', async () => {
    for (let index = 0; index < 8; index += 1) void check(`a${index}`, 'p');
    void check('victim');
    void check('victim');
    assert.deepEqual((await runAll()).slice(0, 4), ['a0', 'victim', 'a1', 'victim']);
    assert.equal(began.length, 10);
  });

  it('are those of the accounts of a platform', async () => {
    for (const account of ['a', 'a', 'a', 'b']) void check(account, 'p');
    assert.deepEqual(await runAll(), ['a', 'b', 'a', 'a']);
  });

  it('give a platform one check at a time, though there is room for more', async () => {
    inTurn = inTurns(2);
    for (const account of ['a', 'b', 'b']) void check(account, 'p');
    await settle();
    assert.deepEqual(began, ['a']);
    void check('victim');
    await settle();
    assert.deepEqual(began, ['a', 'victim']);
    assert.deepEqual(await runAll(), ['a', 'victim', 'b', 'b']);
  });

  it('go on after a check that failed', async () => {
    const failed = inTurn({ account: 'a', platform: 'a' }, () => Promise.reject(new Error('no')));
    void check('a');
    await assert.rejects(failed, /no/);
    assert.deepEqual(await runAll(), ['a']);
  });
});
