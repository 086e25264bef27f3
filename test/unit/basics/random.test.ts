import assert from 'node:assert/strict';
import { takeRandomBytes } from '../../../src/domain/basics/random.js';

describe('random bytes', () => {
  it('are not handed out twice, and do not change later', () => {
    const taken = Array.from({ length: 2_000 }, () => takeRandomBytes(12));
    const seen = taken.map((bytes) => bytes.toString('hex'));
    assert.equal(new Set(seen).size, taken.length);
    takeRandomBytes(4_096);
    assert.deepEqual(
      taken.map((bytes) => bytes.toString('hex')),
      seen,
    );
  });
});
