import assert from 'node:assert/strict';
import { mergePatch, omit } from '../../../src/domain/basics/objects.js';

/** The examples of RFC 7396, appendix A: what is patched, the patch, the result. */
const EXAMPLES: [unknown, unknown, unknown][] = [
  [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
  [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
  [{ a: 'b' }, { a: null }, {}],
  [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
  [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
  [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
  [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
  [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
  [
    ['a', 'b'],
    ['c', 'd'],
    ['c', 'd'],
  ],
  [{ a: 'b' }, ['c'], ['c']],
  [{ a: 'foo' }, null, null],
  [{ a: 'foo' }, 'bar', 'bar'],
  [{ e: null }, { a: 1 }, { e: null, a: 1 }],
  [[1, 2], { a: 'b', c: null }, { a: 'b' }],
  [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
];

describe('a JSON Merge Patch', () => {
  for (const [target, patch, result] of EXAMPLES) {
    it(`${JSON.stringify(patch)} makes ${JSON.stringify(result)} of ${JSON.stringify(target)}`, () => {
      assert.deepEqual(mergePatch(target, patch), result);
    });
  }

  it('sets no prototype', () => {
    const merged = mergePatch({}, JSON.parse('{"__proto__": {"admin": true}}')) as Record<string, unknown>;
    assert.equal(merged['admin'], undefined);
    assert.equal(Object.getPrototypeOf(merged), Object.prototype);
  });
});

describe('an object without some of its members', () => {
  it('has the others as they are, and leaves the object alone', () => {
    const object = { a: 1, b: undefined, c: 'd' };
    assert.deepEqual(omit(object, 'a'), { b: undefined, c: 'd' });
    assert.deepEqual(object, { a: 1, b: undefined, c: 'd' });
  });
});
