import assert from 'node:assert/strict';
import fc from 'fast-check';
import { parseKeptDays } from '../../../src/domain/records/kept-days.js';
import { canonicalJson } from '../../../src/domain/records/record.js';

describe('canonical JSON', () => {
  it('is what RFC 8785 shows in section 3.2.4', () => {
    const value = {
      numbers: [Number('333333333.33333329'), 1e30, 4.5, 2e-3, 0.000000000000000000000000001],
      string: '\u20ac$\u000f\u000aA\'\u0042\u0022\u005c\\"/',
      literals: [null, true, false],
    };
    assert.equal(
      canonicalJson(value),
      '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
    );
  });

  it('sorts by UTF-16 code units, as in section 3.2.3', () => {
    const names = ['\u20ac', '\r', '\ufb33', '1', '\ud83d\ude00', '\u0080', '\u00f6'];
    const value = Object.fromEntries(names.map((name) => [name, 0]));
    assert.deepEqual(Object.keys(JSON.parse(canonicalJson(value))).sort(), [...names].sort());
    assert.match(
      canonicalJson(value),
      /^\{"\\r":0,"1":0,"\u0080":0,"\u00f6":0,"\u20ac":0,"\ud83d\ude00":0,"\ufb33":0\}$/,
    );
  });

  it('reads back as the same value, and is the same text whatever the order of members', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
        const text = canonicalJson(value);
        assert.equal(canonicalJson(JSON.parse(text)), text);
        assert.equal(canonicalJson(reversed(JSON.parse(text))), text);
      }),
    );
  });

  it('leaves out what is undefined, and refuses what JSON does not have', () => {
    assert.equal(canonicalJson({ a: undefined, b: [1] }), '{"b":[1]}');
    for (const value of [Number.NaN, Number.POSITIVE_INFINITY, '\ud800', { '\udc00': 1 }, 1n, () => {}])
      assert.throws(() => canonicalJson(value), TypeError);
  });
});

describe('rules of how long something is kept', () => {
  const account = 'acct_01M7Y2V07RS2Y47QBBGSV7HTCR';
  const other = 'acct_01M7Y2V07RS2Y47QBBGSV7HTCS';

  it('hold where they are most specific', () => {
    const { days } = parseKeptDays(`400, purchase=90, ${account}=30, ${account}/purchase=7`);
    assert.equal(days(other, 'refund'), 400);
    assert.equal(days(other, 'purchase'), 90);
    assert.equal(days(account, 'refund'), 30);
    assert.equal(days(account, 'purchase'), 7);
  });

  it('are refused if they say something else', () => {
    for (const text of [
      '',
      '0',
      '1.5',
      'x',
      '400,purchase',
      '400,purchase=0',
      '400,acct_1/purchase=3',
      '400,a/b/c=3',
    ])
      assert.throws(() => parseKeptDays(text), RangeError, text);
  });
});

/** The same value with the members of objects in the opposite order. */
function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([name, member]) => [name, reversed(member)]),
  );
}
