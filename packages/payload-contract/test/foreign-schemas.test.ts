import { deepEqual, match, ok } from 'node:assert/strict';
import { z } from 'zod';
import { checkSchemaItself, compilePayloadSchema } from '../src/schema/payload-schema.js';
import { checkBounds, checkPatterns } from '../src/schema/schema-bounds.js';

type Schema = Record<string, unknown>;

function mistakesOf(schema: object): string[] {
  const { errors } = checkBounds(schema as Schema);
  const all = errors.length > 0 ? errors : checkPatterns(schema as Schema);
  if (all.length > 0) return all.map(({ pointer, detail }) => `${pointer} ${detail}`);
  const mistake = checkSchemaItself(schema as Schema);
  return mistake === undefined ? [] : [mistake];
}

const address = z.object({ city: z.string() }).meta({ id: 'Address', title: 'An address', deprecated: true });

/** Schemas of zod, written by its own function. */
const ZOD: Record<string, z.ZodType> = {
  texts: z.object({ email: z.email(), url: z.url(), id: z.uuid(), at: z.iso.datetime(), day: z.iso.date() }),
  'formats that no standard has': z.object({
    a: z.cuid(),
    b: z.ulid(),
    c: z.nanoid(),
    d: z.jwt(),
    e: z.e164(),
  }),
  encodings: z.object({ raw: z.base64(), url: z.base64url(), file: z.file() }),
  numbers: z.object({ a: z.int(), b: z.int32(), c: z.float64(), d: z.number().positive().multipleOf(0.01) }),
  unions: z.object({
    one: z.discriminatedUnion('kind', [
      z.object({ kind: z.literal('a'), n: z.int() }),
      z.object({ kind: z.literal('b') }),
    ]),
    some: z.union([z.string(), z.null()]),
    both: z.intersection(z.object({ a: z.string() }), z.object({ b: z.string() })),
  }),
  containers: z.object({
    tuple: z.tuple([z.string(), z.int()]),
    record: z.record(z.string(), z.int()),
    list: z.array(z.enum(['a', 'b'])).readonly(),
    loose: z.looseObject({ a: z.string().default('x') }),
  }),
  definitions: z.strictObject({ home: address, work: address.optional() }),
};

/** As TypeBox 0.34 writes it, with ids, and annotations of OpenAPI. */
const TYPEBOX = {
  $id: 'Order',
  type: 'object',
  required: ['item', 'counts'],
  properties: {
    item: { $id: 'Item', type: 'object', required: ['$id'], properties: { $id: { type: 'string' } } },
    counts: { type: 'object', patternProperties: { '^(.*)$': { type: 'number' } } },
    size: {
      anyOf: [
        { const: 'a', type: 'string' },
        { const: 'b', type: 'string' },
      ],
      'x-order': 3,
    },
  },
};

/** As pydantic 2 writes a model. */
const PYDANTIC = {
  $defs: {
    Cat: {
      properties: { kind: { const: 'cat', title: 'Kind', type: 'string' } },
      required: ['kind'],
      title: 'Cat',
      type: 'object',
    },
    Dog: {
      properties: { kind: { const: 'dog', title: 'Kind', type: 'string' } },
      required: ['kind'],
      title: 'Dog',
      type: 'object',
    },
  },
  properties: {
    pet: {
      discriminator: { mapping: { cat: '#/$defs/Cat', dog: '#/$defs/Dog' }, propertyName: 'kind' },
      oneOf: [{ $ref: '#/$defs/Cat' }, { $ref: '#/$defs/Dog' }],
      title: 'Pet',
    },
    took: { format: 'duration', title: 'Took', type: 'string' },
    id: { format: 'uuid4', title: 'Id', type: 'string' },
    secret: { format: 'password', type: 'string', writeOnly: true },
    net: { format: 'ipv4network', type: 'string' },
    js: { contentMediaType: 'application/json', contentSchema: {}, title: 'Js', type: 'string' },
    pair: { maxItems: 2, minItems: 2, prefixItems: [{ type: 'integer' }, { type: 'string' }], type: 'array' },
  },
  required: ['pet'],
  title: 'Model',
  type: 'object',
};

describe('a schema that another tool has written', () => {
  for (const [what, type] of Object.entries(ZOD))
    it(`is taken from zod: ${what}`, () => deepEqual(mistakesOf(z.toJSONSchema(type)), []));

  it('is taken from TypeBox, and checks what it says', () => {
    deepEqual(mistakesOf(TYPEBOX), []);
    const validate = compilePayloadSchema(TYPEBOX);
    ok(validate({ item: { $id: 'x' }, counts: { a: 1 } }) === undefined);
    ok(validate({ item: { $id: 5 }, counts: {} }));
    ok(validate({ item: {}, counts: {} }));
  });

  it('is taken from pydantic, and checks what it says', () => {
    deepEqual(mistakesOf(PYDANTIC), []);
    const validate = compilePayloadSchema(PYDANTIC);
    ok(validate({ pet: { kind: 'dog' } }) === undefined);
    ok(validate({ pet: { kind: 'cow' } }));
  });

  /**
   * Keywords that change which payloads are valid, and are not checked: the text says so, and what to write instead.
   */
  const refused: [string, Schema, string, RegExp][] = [
    [
      'unevaluatedProperties',
      { allOf: [], unevaluatedProperties: false },
      '/schema/unevaluatedProperties',
      /additional/,
    ],
    ['additionalItems', { additionalItems: false }, '/schema/additionalItems', /prefixItems/],
    ['nullable', { type: 'string', nullable: true }, '/schema/nullable', /"null"/],
    ['definitions', { definitions: {} }, '/schema/definitions', /\$defs/],
    ['another draft', { $schema: 'http://json-schema.org/draft-07/schema#' }, '/schema/$schema', /2020-12/],
    ['a misspelt mark', { 'x-hookline-keys': true }, '/schema/x-hookline-keys', /not a keyword/],
    [
      'a reference below an id',
      { $defs: { b: {} }, properties: { a: { $id: 'A', items: { $ref: '#/$defs/b' } } } },
      '/schema/properties/a/items/$ref',
      /leave the \$id out/,
    ],
    [
      'a pattern with a look-ahead beside a format',
      z.toJSONSchema(z.object({ at: z.string().meta({ format: 'date-time', pattern: '(?=2)' }) })),
      '/schema/properties/at/pattern',
      /not a pattern of RE2.*date-time is checked anyway: leave the pattern out/,
    ],
    ['a pattern that is too long', z.toJSONSchema(z.ipv6()), '/schema/pattern', /ipv6 is checked anyway/],
  ];
  for (const [what, schema, pointer, text] of refused)
    it(`is refused with what is not supported: ${what}`, () => {
      const [mistake = ''] = mistakesOf(schema);
      ok(mistake.startsWith(`${pointer} `), mistake);
      match(mistake, text);
    });
});
