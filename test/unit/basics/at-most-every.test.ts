import { equal, rejects } from 'node:assert/strict';
import { atMostEvery } from '../../../src/domain/basics/at-most-every.js';

describe('what is computed at most once in a while', () => {
  it('is shared by all who ask meanwhile and soon after, and computed again later', async () => {
    let [clock, computed] = [0, 0];
    let finish = () => {};
    const ask = atMostEvery(
      1_000,
      () =>
        new Promise<number>((resolve) => {
          computed += 1;
          finish = () => resolve(computed);
        }),
      () => clock,
    );
    const first = [ask(), ask()];
    clock = 5_000;
    first.push(ask());
    finish();
    for (const answer of first) equal(await answer, 1, 'also one that takes longer');
    clock = 5_001;
    const later = ask();
    finish();
    equal(await later, 2);
    clock = 6_000;
    equal(await ask(), 2);
  });

  it('is not tried again at once if it fails', async () => {
    let tries = 0;
    const ask = atMostEvery(
      1_000,
      () => {
        tries += 1;
        return Promise.reject(new Error(String(tries)));
      },
      () => 0,
    );
    await rejects(ask(), /1/);
    await rejects(ask(), /1/);
    equal(tries, 1);
  });
});
