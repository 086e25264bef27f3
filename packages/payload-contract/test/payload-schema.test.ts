import assert from 'node:assert/strict';
import { COSTLY } from '../../../test/support/parts/costly-schemas.js';
import { checkSchemaItself, compilePayloadSchema } from '../src/schema/payload-schema.js';
import { checkBounds, checkPatterns, SCHEMA_BOUNDS } from '../src/schema/schema-bounds.js';

type Schema = Record<string, unknown>;

/** Everything that is checked of a schema that an account brings. */
function checkPayloadSchema(schema: Schema) {
  const { errors } = checkBounds(schema);
  if (errors.length > 0) return errors;
  const patterns = checkPatterns(schema);
  const mistake = checkSchemaItself(schema);
  return mistake === undefined ? patterns : [...patterns, { pointer: '/schema', detail: mistake }];
}

/** Schemas that are refused: where, and why. */
const REFUSED: [string, Schema, string, RegExp][] = [
  ['a keyword that is none', { type: 'object', colour: 'red' }, '/schema/colour', /not a keyword/],
  ['a dynamic reference', { $dynamicRef: '#a' }, '/schema/$dynamicRef', /not a keyword/],
  ['code for Ajv', { $async: true }, '/schema/$async', /not a keyword/],
  ['a remote reference', { $ref: 'https://example.com/s' }, '/schema/$ref', /a definition of this schema/],
  ['a reference to a file', { $ref: 'file:///etc/passwd' }, '/schema/$ref', /a definition of this schema/],
  ['itself', { $ref: '#' }, '/schema/$ref', /a definition of this schema/],
  ['a missing definition', { $ref: '#/$defs/a' }, '/schema/$ref', /nothing in \$defs/],
  ['a prototype', { $ref: '#/$defs/constructor' }, '/schema/$ref', /nothing in \$defs/],
  [
    'a circle',
    {
      $ref: '#/$defs/a',
      $defs: { a: { properties: { b: { $ref: '#/$defs/b' } } }, b: { items: { $ref: '#/$defs/a' } } },
    },
    '/schema/$defs/b/items/$ref',
    /lead back to itself/,
  ],
  ['a look-ahead', { pattern: '^(?=a)b$' }, '/schema/pattern', /not a pattern of RE2/],
  ['a back-reference', { pattern: '(a)\\1' }, '/schema/pattern', /not a pattern of RE2/],
  ['half a pattern', { pattern: '(' }, '/schema/pattern', /not a pattern of RE2/],
  ['a long pattern', { pattern: 'a'.repeat(257) }, '/schema/pattern', /at most 256/],
  [
    'a pattern of names',
    { patternProperties: { '(': true } },
    '/schema/patternProperties/(',
    /not a pattern of RE2/,
  ],
  ['an unknown type', { type: 'text' }, '/schema', /./],
  ['no schema inside', { properties: { a: 5 } }, '/schema/properties/a', /must be a schema/],
  ['too much text', { description: 'x'.repeat(SCHEMA_BOUNDS.bytes) }, '/schema', /at most 32768 bytes/],
];

describe('a payload schema', () => {
  for (const [what, schema, pointer, detail] of REFUSED) {
    it(`must not have ${what}`, () => {
      const errors = checkPayloadSchema(schema);
      assert.ok(
        errors.some((error) => error.pointer === pointer && detail.test(error.detail)),
        JSON.stringify(errors),
      );
    });
  }

  for (const { name, schema, pointer } of COSTLY)
    it(`must not be costly to check, unless it is cheap by now: ${name}`, () => {
      const pointers = checkPayloadSchema(schema).map((error) => error.pointer);
      assert.equal(pointers[0]?.startsWith(pointer ?? ''), pointer === undefined ? undefined : true);
    });

  it('is bounded in depth', () => {
    const nested = (depth: number): Schema => (depth === 0 ? {} : { items: nested(depth - 1) });
    assert.deepEqual(checkPayloadSchema(nested(SCHEMA_BOUNDS.depth)), []);
    assert.match(checkPayloadSchema(nested(SCHEMA_BOUNDS.depth + 1))[0]?.detail ?? '', /at most 32 deep/);
  });

  it('is bounded in what one place of a payload may be checked against', () => {
    // Sixteen definitions, each twice the one before: 2^16 checks.
    const $defs = Object.fromEntries(
      Array.from({ length: 16 }, (_, i) => [
        `d${i}`,
        i === 0
          ? { type: 'object' }
          : { allOf: [{ $ref: `#/$defs/d${i - 1}` }, { $ref: `#/$defs/d${i - 1}` }] },
      ]),
    );
    assert.deepEqual(
      checkPayloadSchema({ $ref: '#/$defs/d15', $defs }).map(({ detail }) => detail),
      [`has more than ${SCHEMA_BOUNDS.subschemas} subschemas, counted along every reference`],
    );
    assert.deepEqual(checkPayloadSchema({ $ref: '#/$defs/d5', $defs }), []);
  });

  it('runs patterns in linear time that take others forever', () => {
    const schema = { type: 'string', pattern: '^(([a-z])+.)+[A-Z]([a-z])+$' };
    assert.deepEqual(checkPayloadSchema(schema), []);
    const validate = compilePayloadSchema(schema);
    // With a backtracking engine this would not come back within the test's time.
    assert.ok(validate('a'.repeat(100_000)));
    assert.equal(validate('ab.Cd'), undefined);
  });

  it('knows own properties only', () => {
    const validate = compilePayloadSchema({ type: 'object', required: ['toString'] });
    assert.ok(validate({}));
    assert.equal(validate(JSON.parse('{"toString": 1}')), undefined);
  });

  it('may use what draft 2020-12 has', () => {
    const schema = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      required: ['id', 'lines'],
      properties: {
        id: { type: 'string', format: 'uuid' },
        lines: { type: 'array', minItems: 1, items: { $ref: '#/$defs/line' } },
        at: { $ref: '#/$defs/time' },
        place: { type: 'array', prefixItems: [{ type: 'number' }, { type: 'number' }], items: false },
      },
      dependentRequired: { at: ['place'] },
      $defs: {
        line: {
          type: 'object',
          properties: { qty: { type: 'integer', exclusiveMinimum: 0 } },
          additionalProperties: false,
        },
        time: { type: 'string', format: 'date-time' },
      },
    };
    assert.deepEqual(checkPayloadSchema(schema), []);
    const validate = compilePayloadSchema(schema);
    const id = '4f9d1c8e-6f4b-4b43-9f0e-0d3c2f1a5b6c';
    assert.equal(validate({ id, lines: [{ qty: 1 }] }), undefined);
    assert.ok(validate({ id, lines: [{ qty: 0 }] }));
    assert.ok(validate({ id, lines: [{ qty: 1 }], at: '2026-01-31T12:00:00Z' }));
  });
});
