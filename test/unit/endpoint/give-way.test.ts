import assert from 'node:assert/strict';
import { GiveWay } from '../../../src/domain/endpoint/give-way.js';

describe('what gives way', () => {
  it('rests after a call that took more than four times as long as the quickest, for a second at most', () => {
    const giveWay = new GiveWay();
    assert.deepEqual(
      [20, 5, 20, 21, 4, 17, 400].map((tookMs) => giveWay.restAfter(tookMs)),
      [0, 0, 0, 63, 0, 51, 1_000],
    );
  });
});
