import assert from 'node:assert/strict';
import fc from 'fast-check';
import { plain, quoted } from '../../../src/domain/text/plain.js';

describe('a text of others', () => {
  it('is one line without what a terminal acts upon, in 7 and in 8 bits', () => {
    assert.equal(plain('\u001b[8mhidden\u001b[0m'), 'hidden');
    assert.equal(plain('one\r\ntwo\u2028three\u0085four'), 'one  two three four');
    assert.doesNotMatch(plain('\u009b8m\u0007\u007f\u202eabc\u2066'), /[\p{Cc}\p{Bidi_Control}]/u);
    assert.equal(plain('Grüße, 世界 👩‍💻'), 'Grüße, 世界 👩‍💻');
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        assert.doesNotMatch(plain(text), /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u);
      }),
    );
  });

  it('cannot end the quotation marks that it stands in', () => {
    assert.equal(quoted('a". Delivered.\nb'), '"a\\". Delivered. b"');
  });
});
