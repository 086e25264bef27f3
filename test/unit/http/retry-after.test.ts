import assert from 'node:assert/strict';
import { parseRetryAfter } from '../../../src/domain/http/retry-after.js';

describe('a Retry-After that is neither whole seconds nor a date', () => {
  for (const value of ['1.5', '120, 60', '120;60', '-5', '+5', '1e3', '0x10', '٣', '5 s', 'soon'])
    it(`is ignored: ${value}`, () => {
      assert.equal(parseRetryAfter(value, 0), undefined);
    });
});
