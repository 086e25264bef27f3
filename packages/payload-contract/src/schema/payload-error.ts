import type { ErrorObject } from 'ajv';
import { escapePointer } from '../json-pointer.js';
import type { Mistake } from './mistake.js';

/** Characters of allowed values, or of a pattern, that an error repeats. */
const MAX_REPEATED = 256;

const TYPES: Partial<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
};

const FORMATS: Partial<Record<string, string>> = {
  date: 'an ISO 8601 date, such as 2026-01-31',
  'date-time': 'an ISO 8601 time with an offset, such as 2026-01-31T12:00:00+01:00',
  email: 'an e-mail address in ASCII, such as ada@example.com',
  hostname: 'a host name, such as www.example.com',
  'idn-email': 'an e-mail address, such as ada@example.com',
  ipv4: 'an IPv4 address, such as 192.0.2.1',
  ipv6: 'an IPv6 address, such as 2001:db8::1',
  time: 'an ISO 8601 time of day with an offset, such as 12:00:00Z',
  uri: 'a URI, such as https://example.com/',
  'utc-date-time': 'an ISO 8601 time in UTC, such as 2026-01-31T12:00:00Z',
  uuid: 'a UUID, such as 123e4567-e89b-12d3-a456-426614174000',
};

const COMPARISONS: Partial<Record<string, string>> = {
  '>=': 'at least',
  '>': 'greater than',
  '<=': 'at most',
  '<': 'less than',
};

const bound =
  (which: 'least' | 'most', one: string, several: string) =>
  ({ limit }: Params) =>
    `must have at ${which} ${limit} ${limit === 1 ? one : several}`;
const compared = ({ comparison, limit }: Params) => `must be ${COMPARISONS[comparison]} ${limit}`;

type Params = ErrorObject['params'];

/** Description of the error and of its remedy, by keyword. */
const DETAILS: Partial<Record<string, (params: Params) => string>> = {
  required: () => 'is missing',
  dependentRequired: ({ property }) => `is missing: it is required together with ${property}`,
  additionalProperties: () => 'is not a field of the schema: remove it',
  'false schema': () => 'is not allowed by the schema: remove it',
  type: ({ type }) => `must be ${[type].flat().map(nameOfType).join(' or ')}`,
  format: ({ format }) => `must be ${FORMATS[format] ?? format}`,
  pattern: ({ pattern }) => `must match the pattern ${pattern}`,
  const: ({ allowedValue }) => oneOf([allowedValue]),
  enum: ({ allowedValues }) => oneOf(allowedValues),
  minimum: compared,
  exclusiveMinimum: compared,
  maximum: compared,
  exclusiveMaximum: compared,
  multipleOf: ({ multipleOf }) => `must be a multiple of ${multipleOf}`,
  minLength: bound('least', 'character', 'characters'),
  maxLength: bound('most', 'character', 'characters'),
  minItems: bound('least', 'entry', 'entries'),
  maxItems: bound('most', 'entry', 'entries'),
  items: bound('most', 'entry', 'entries'),
  minProperties: bound('least', 'field', 'fields'),
  maxProperties: bound('most', 'field', 'fields'),
  uniqueItems: () => 'must not have the same entry twice',
  contains: ({ minContains: least, maxContains: most }) =>
    `must have ${most === undefined ? `at least ${least}` : `${least} to ${most}`} of the entries that contains of the schema describes`,
  propertyNames: () => 'has a field whose name does not match propertyNames of the schema',
  anyOf: () => 'must match at least one of the alternatives in anyOf of the schema',
  oneOf: () => 'must match exactly one of the alternatives in oneOf of the schema',
  not: () => 'must not match what the schema has under not',
  if: ({ failingKeyword }) => `must match what the schema has under ${failingKeyword}`,
};

/**
 * One of Ajv's errors in the words of the API: where, and what to change. It repeats the schema and the names of
 * fields, and never a value of the payload.
 */
export function describePayloadError(error: ErrorObject): Mistake {
  const pointer = error.instancePath;
  const { missingProperty, additionalProperty } = error.params;
  // For errors in names of fields, Ajv points to the object.
  if (error.propertyName !== undefined)
    return { pointer, detail: `has a field whose name ${describe(error)}` };
  const field = missingProperty ?? additionalProperty;
  return {
    pointer: field === undefined ? pointer : `${pointer}/${escapePointer(String(field))}`,
    detail: describe(error),
  };
}

function describe({ keyword, params }: ErrorObject): string {
  return DETAILS[keyword]?.(params) ?? `does not match ${keyword} of the schema`;
}

function nameOfType(type: string): string {
  return TYPES[type] ?? type;
}

function oneOf(values: readonly unknown[]): string {
  const text = values.map((value) => JSON.stringify(value)).join(', ');
  if (text.length > MAX_REPEATED) return 'must be a value that the schema lists';
  return `must be ${values.length > 1 ? 'one of: ' : ''}${text}`;
}
