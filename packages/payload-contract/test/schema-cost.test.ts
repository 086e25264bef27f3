import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { RE2JS } from 're2js';
import { MAX_ERRORS } from '../src/schema/mistake.js';
import { patternSize } from '../src/schema/pattern.js';
import { compilePayloadSchema } from '../src/schema/payload-schema.js';

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
  // In a process of its own: others of this one's parts take memory, too, and V8 throws away and makes code again.
  it('is never more than is expected', async () => {
    const script = fileURLToPath(new URL('compiled-memory.ts', import.meta.url));
    const { stdout } = await promisify(execFile)(process.execPath, [
      '--expose-gc',
      '--no-flush-bytecode',
      '--import',
      'tsx',
      script,
    ]);
    const measured = JSON.parse(stdout) as Record<string, { taken: number; expected: number }>;
    assert.equal(Object.keys(measured).length, 3);
    for (const [what, { taken, expected }] of Object.entries(measured))
      assert.ok(taken > 0 && taken <= expected, `${what}: ${taken} of ${expected}`);
  });
});
