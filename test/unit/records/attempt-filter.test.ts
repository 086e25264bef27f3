import assert from 'node:assert/strict';
import { type Network, readNetwork } from '../../../packages/egress/src/addresses/index.js';
import { isAsked, sumsOf } from '../../../src/domain/list/attempt-filter.js';

const networks = (...texts: string[]): Network[] =>
  texts.map((text) => readNetwork(text) ?? assert.fail(text));

describe('attempts that are asked for', () => {
  const answered = { address: '10.1.2.3', duration_ms: 5_000, status_code: 503 };
  const refused = { duration_ms: 20, error_code: 'connection_refused' } as const;

  it('are those that match all that is asked', () => {
    assert.ok(isAsked(answered, {}));
    assert.ok(isAsked(answered, { status_code: 503, longer_than_ms: 4_999 }));
    assert.ok(!isAsked(answered, { longer_than_ms: 5_000 }));
    assert.ok(!isAsked(answered, { status_code: 503, error_code: 'timeout' }));
    assert.ok(isAsked(refused, { error_code: 'connection_refused' }));
  });

  it('went to an address within networks, or outside: one that went nowhere is neither', () => {
    const [ten, other] = [networks('10.0.0.0/8'), networks('192.0.2.0/24', 'fd00::/8', '10.1.2.4')];
    assert.ok(isAsked(answered, { within: ten }));
    assert.ok(!isAsked(answered, { outside: ten }));
    assert.ok(isAsked(answered, { within: ten, outside: other }));
    assert.ok(!isAsked(answered, { within: other }));
    for (const filter of [{ within: ten }, { outside: ten }]) assert.ok(!isAsked(refused, filter));
    assert.ok(isAsked({ ...answered, address: '::ffff:10.1.2.3' }, { within: ten }));
    assert.ok(isAsked({ ...answered, address: 'fd00::1' }, { within: other, outside: ten }));
  });

  it('are summed up with each result once', () => {
    assert.deepEqual(sumsOf([answered, refused, answered]), {
      results: ['503', 'connection_refused'],
      longest_ms: 5_000,
    });
    assert.deepEqual(sumsOf([]), {});
  });
});

describe('a network in a query', () => {
  it('is a block or an address, in the forms that everybody reads alike', () => {
    for (const text of ['10.0.0.0/8', '10.0.0.1', '0.0.0.0/0', '2001:db8::/32', '::1', '::ffff:10.0.0.1'])
      assert.ok(readNetwork(text), text);
    for (const text of [
      '',
      '/',
      '10/8',
      '0x7f.1',
      '127.1',
      '10.0.0.0/33',
      '10.0.0.0/8/8',
      '::1/129',
      '10.0.0.0/-1',
      '10.0.0.0/',
      'a',
      ':::',
    ])
      assert.equal(readNetwork(text), undefined, text);
  });
});
