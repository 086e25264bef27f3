import assert from 'node:assert/strict';
import { blockAfter, parseRateLimits, renderPolicy, renderState } from '../../src/domain/rate-limit.js';

describe('rate limits', () => {
  it('are read from text', () => {
    assert.deepEqual(parseRateLimits('600/1m, 20000/1h'), [
      { requests: 600, window_ms: 60_000 },
      { requests: 20_000, window_ms: 3_600_000 },
    ]);
    assert.deepEqual(parseRateLimits('off'), []);
    for (const text of ['', '600', '600/m', '0/1m', '600/500ms', '600/1500ms', '600/2d', '-1/1m'])
      assert.throws(() => parseRateLimits(text), RangeError, text);
  });

  it('are written as the headers’ draft has it', () => {
    const [limit] = parseRateLimits('600/1m');
    assert.ok(limit);
    assert.equal(renderPolicy('token', [limit]), '"token-1m";q=600;w=60');
    assert.equal(
      renderState('token', [{ limit, remaining: 599, reset_ms: 41_001 }]),
      '"token-1m";r=599;t=42',
    );
  });

  it('block for twice as long after every tenth refusal, up to the longest', () => {
    const blocks = Array.from({ length: 50 }, (_, index) => blockAfter(index + 1, 60_000, 240_000));
    assert.deepEqual(
      blocks.flatMap((block, index) => (block === undefined ? [] : [[index + 1, block]])),
      [
        [10, 60_000],
        [20, 120_000],
        [30, 240_000],
        [40, 240_000],
        [50, 240_000],
      ],
    );
  });
});
