import assert from 'node:assert/strict';
import { MAX_SUMMARY_BYTES, timerSummary } from '../../../src/domain/ledger/timer-summary.js';

describe('the summary of a timer', () => {
  it('is the text itself where Temporal takes it', () => {
    for (const text of ['', 'attempt 1 answered 503', 'x'.repeat(200), 'é'.repeat(100)])
      assert.equal(timerSummary(text), text);
  });

  it('is cut off by bytes, between characters', () => {
    for (const character of ['x', 'é', '漢', '🪝']) {
      const size = Buffer.byteLength(character);
      for (const prefix of ['', 'a', 'ab', 'abc']) {
        const summary = timerSummary(prefix + character.repeat(300));
        const fits = Math.floor((MAX_SUMMARY_BYTES - prefix.length) / size);
        assert.equal(summary, prefix + character.repeat(fits));
      }
    }
  });
});
