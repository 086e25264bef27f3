import assert from 'node:assert/strict';
import { collectWhenIdle } from '../../../src/bin/service/garbage.js';
import { until } from '../../support/until.js';

const INTERVAL_MS = 50;

function keepBusy(ms: number): void {
  const end = Date.now() + ms;
  while (Date.now() < end) JSON.stringify({});
}

describe('the collection of garbage', () => {
  it('comes once after a busy time, and not while nothing happens', async () => {
    let collected = 0;
    let watched = 0;
    const end = collectWhenIdle(() => {
      collected += 1;
    }, INTERVAL_MS);
    const watch = setInterval(() => {
      watched += 1;
    }, INTERVAL_MS);
    try {
      for (const expected of [1, 2]) {
        keepBusy(5 * INTERVAL_MS);
        await until(
          () => collected,
          (count) => count === expected,
        );
        const before = watched;
        await until(
          () => watched - before,
          (intervals) => intervals >= 5,
        );
        assert.equal(collected, expected);
      }
    } finally {
      end();
      clearInterval(watch);
    }
  });
});
