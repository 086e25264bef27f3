import assert from 'node:assert/strict';
import fc from 'fast-check';
import { shorten } from '../../../src/domain/http/shorten.js';

describe('a text that is shortened', () => {
  it('stays as it is if it is short enough', () => {
    assert.equal(shorten('abc', 3), 'abc');
    assert.equal(shorten('abcd', 3), 'ab…');
  });

  it('is never longer than asked, and never ends in half a character', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 1, max: 20 }), (text, most) => {
        const short = shorten(text, most);
        assert.ok(short.length <= most);
        assert.doesNotMatch(short, /[\ud800-\udbff](?![\udc00-\udfff])/);
      }),
    );
  });
});
