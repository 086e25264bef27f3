import assert from 'node:assert/strict';
import { compilePayloadSchema } from '../src/schema/payload-schema.js';

const NAMES = { properties: { a: {} }, additionalProperties: false };
const LONG = Array.from({ length: 100 }, (_, index) => `value ${index}`);

/** A schema, a payload that does not match it, and the first error: the pointer and the detail. */
const ERRORS: [Record<string, unknown>, unknown, string][] = [
  [{ type: 'string' }, 1, ' must be a string'],
  [{ type: 'integer' }, 1.5, ' must be a whole number'],
  [{ type: 'boolean' }, 1, ' must be true or false'],
  [{ type: ['array', 'null'] }, 1, ' must be a list or null'],
  [{ properties: { 'a/b': { type: 'object' } } }, { 'a/b': 1 }, '/a~1b must be an object'],
  [{ required: ['a'] }, {}, '/a is missing'],
  [{ dependentRequired: { a: ['b'] } }, { a: 1 }, '/b is missing: it is required together with a'],
  [NAMES, { 'b/c': 1 }, '/b~1c is not a field of the schema: remove it'],
  [{ properties: { a: false } }, { a: 1 }, '/a is not allowed by the schema: remove it'],
  [{ enum: ['a', 1, null] }, 'b', ' must be one of: "a", 1, null'],
  [{ enum: LONG }, 'b', ' must be a value that the schema lists'],
  [{ const: 'a' }, 'b', ' must be "a"'],
  [{ type: 'number', minimum: 1 }, 0, ' must be at least 1'],
  [{ type: 'number', exclusiveMinimum: 1 }, 1, ' must be greater than 1'],
  [{ type: 'number', maximum: 1 }, 2, ' must be at most 1'],
  [{ type: 'number', exclusiveMaximum: 1 }, 1, ' must be less than 1'],
  [{ type: 'number', multipleOf: 5 }, 1, ' must be a multiple of 5'],
  [{ type: 'string', minLength: 1 }, '', ' must have at least 1 character'],
  [{ type: 'string', maxLength: 2 }, 'abc', ' must have at most 2 characters'],
  [{ type: 'string', pattern: '^[a-z]+$' }, '1', ' must match the pattern ^[a-z]+$'],
  [{ type: 'array', minItems: 1 }, [], ' must have at least 1 entry'],
  [{ type: 'array', maxItems: 1 }, [1, 2], ' must have at most 1 entry'],
  [{ prefixItems: [{}, {}], items: false }, [1, 2, 3], ' must have at most 2 entries'],
  [{ type: 'array', uniqueItems: true }, [1, 1], ' must not have the same entry twice'],
  [
    { contains: { const: 1 } },
    [],
    ' must have at least 1 of the entries that contains of the schema describes',
  ],
  [{ minProperties: 1 }, {}, ' must have at least 1 field'],
  [{ maxProperties: 1 }, { a: 1, b: 2 }, ' must have at most 1 field'],
  [{ propertyNames: { maxLength: 1 } }, { ab: 1 }, ' has a field whose name must have at most 1 character'],
  [{ not: {} }, 1, ' must not match what the schema has under not'],
  [{ if: { const: 2 }, else: false }, 1, ' is not allowed by the schema: remove it'],
  ...['date', 'date-time', 'email', 'idn-email', 'hostname', 'ipv4', 'ipv6', 'time', 'uri', 'uuid'].map(
    (format): [Record<string, unknown>, unknown, string] => [
      { type: 'string', format },
      '?',
      format === 'hostname' ? ' must be a host name, such as' : ', such as ',
    ],
  ),
];

/** Errors that come after those of the alternatives. */
const SUMMARIES: [Record<string, unknown>, unknown, string][] = [
  [{ anyOf: [{ const: 1 }, { const: 2 }] }, 3, ' must match at least one of the alternatives in anyOf'],
  [{ oneOf: [{ type: 'number' }, { const: 2 }] }, 2, ' must match exactly one of the alternatives in oneOf'],
  [{ if: { const: 1 }, else: { const: 3 } }, 2, ' must match what the schema has under else'],
];

function errorsOf(schema: Record<string, unknown>, value: unknown): string[] {
  const found = compilePayloadSchema(schema)(value)?.errors ?? [];
  return found.map(({ pointer, detail }) => `${pointer} ${detail}`);
}

describe('an error of a payload', () => {
  for (const [schema, value, expected] of ERRORS) {
    it(`of ${JSON.stringify(schema).slice(0, 80)} says what to change`, () => {
      const [first = ''] = errorsOf(schema, value);
      assert.ok(first.includes(expected), first);
    });
  }
  for (const [schema, value, expected] of SUMMARIES) {
    it(`of ${JSON.stringify(schema)} says it after those of its parts`, () => {
      const last = errorsOf(schema, value).at(-1) ?? '';
      assert.ok(last.includes(expected), last);
    });
  }
});
