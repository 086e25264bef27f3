import assert from 'node:assert/strict';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { RE2JS } from 're2js';
import { MAX_ERRORS } from '../src/schema/mistake.js';
import { patternSize } from '../src/schema/pattern.js';
import { compilePayloadSchema } from '../src/schema/payload-schema.js';
import { checkBounds, compiledBytes } from '../src/schema/schema-bounds.js';

const atom = fc.constantFrom(
  'a',
  '[a-z]',
  '\\d',
  '\\p{L}',
  '.',
  '\\Qx(\\E',
  '[^]]',
  '[]x]',
  '\\b',
  '^',
  '(?i)k',
);
const counted = fc.constantFrom('*', '+', '?', '*?', '{2}', '{1,5}', '{3,}', '{0,2}?', '{0,7}');
const { pattern } = fc.letrec<{ pattern: string }>((tie) => ({
  pattern: fc.oneof(
    { depthSize: 'medium' },
    atom,
    fc.tuple(tie('pattern'), tie('pattern')).map((parts) => parts.join('')),
    fc.tuple(tie('pattern'), tie('pattern')).map((parts) => parts.join('|')),
    fc.tuple(tie('pattern'), counted).map(([inner, count]) => `(?:${inner})${count}`),
    fc.tuple(tie('pattern'), counted).map(([inner, count]) => `(${inner})${count}`),
  ),
}));

describe('the size of a pattern', () => {
  it('is never less than RE2 makes of it', () => {
    fc.assert(
      fc.property(pattern, (text) => {
        let size: number;
        try {
          size = RE2JS.compile(text).programSize();
        } catch {
          return; // not a pattern of RE2
        }
        assert.ok(patternSize(text) >= size, text);
      }),
      { numRuns: 600, endOnFailure: true },
    );
  });
});

describe('a payload with many mistakes', () => {
  const wrong = (count: number) => Array.from({ length: count }, () => 1);

  it('lists the first twenty errors, and says that there are more', () => {
    const validate = compilePayloadSchema({ items: { type: 'string' } });
    const few = validate(wrong(MAX_ERRORS));
    assert.deepEqual([few?.errors.length, few?.more], [MAX_ERRORS, false]);
    const many = validate(wrong(100_000));
    assert.deepEqual([many?.errors.length, many?.more], [MAX_ERRORS, true]);
  });

  it('leaves out alternatives that did not match if another one did', () => {
    const alternatives = Array.from({ length: 50 }, (_, index) => ({ const: index }));
    const schema = { properties: { a: { anyOf: alternatives }, b: { type: 'string' } } };
    const violations = compilePayloadSchema(schema)({ a: 49, b: 1 });
    assert.deepEqual(
      violations?.errors.map(({ pointer }) => pointer),
      ['/b'],
    );
  });
});

describe('values that are compared', () => {
  const isValid = (schema: Record<string, unknown>, value: unknown) =>
    compilePayloadSchema(schema)(value) === undefined;

  it('are equal by what they are, whatever the order of their members', () => {
    const schema = { enum: [{ a: 1, b: [2] }, 'x', 1, null] };
    for (const value of [{ b: [2], a: 1 }, 'x', 1.0, null]) assert.ok(isValid(schema, value));
    for (const value of [{ a: 1 }, '1', true, { a: 1, b: [2], c: 3 }]) assert.ok(!isValid(schema, value));
  });

  it('are not mistaken for a text that looks like them', () => {
    const schema = { uniqueItems: true };
    assert.ok(isValid(schema, [[1], '[1]', '\0[1]', '\0\0[1]', 1, '1']));
    assert.ok(!isValid(schema, ['\0[1]', '\0[1]']));
    assert.ok(
      !isValid(schema, [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ]),
    );
  });
});

describe('the memory of a compiled schema [world]', () => {
  const collected = () => {
    setFlagsFromString('--expose-gc');
    runInNewContext('gc')();
    return process.memoryUsage().heapUsed;
  };
  const many = (count: number, schema: (index: number) => object) => ({
    properties: Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, schema(index)])),
  });
  /** Compiles a schema, and runs all functions that it has. @returns what keeps them */
  const use = (schema: ReturnType<typeof many>) => {
    const names = Object.keys(schema.properties);
    const text = JSON.stringify(Object.fromEntries(names.map((name) => [name, '?'])));
    const validate = compilePayloadSchema(schema);
    for (const payload of [text, text.replace('"?"', '0.12345678901234567890123')])
      validate(JSON.parse(payload), payload);
    return validate;
  };

  for (const [what, schema] of Object.entries({
    'classes of many characters': many(4, () => ({ type: 'string', pattern: '^\\p{L}{1,60}$' })),
    formats: many(40, () => ({ format: 'uuid' })),
    'bounds of numbers': many(30, (maximum) => ({ multipleOf: 0.01, maximum })),
  }))
    it(`is never more than is expected: ${what}`, () => {
      const kept = [use(schema)];
      const measure = () => {
        const before = collected();
        kept.push(use(schema));
        return collected() - before;
      };
      // The process does other things meanwhile, which take memory, too: the least counts.
      const taken = Math.min(...Array.from({ length: 4 }, measure));
      const expected = compiledBytes(schema, checkBounds(schema).size);
      assert.equal(kept.length, 5);
      assert.ok(taken <= expected, `${taken} of ${expected}`);
    });
});
