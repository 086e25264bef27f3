import type { ErrorObject } from 'ajv';
import type { InputError } from '../http/problem.js';
import { escapePointer } from './schema-keywords.js';

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

/**
 * One of Ajv's errors in the words of the API: where, and what to change. It repeats the schema and the names of fields, and never a value
 * of the payload.
 */
export function describePayloadError(error: ErrorObject): InputError {
  const pointer = error.instancePath;
  const { missingProperty, additionalProperty } = error.params;
  // Of the names of an object's fields, Ajv points to the object.
  if (error.propertyName !== undefined)
    return { pointer, detail: `has a field whose name ${describe(error)}` };
  const field = missingProperty ?? additionalProperty;
  return {
    pointer: field === undefined ? pointer : `${pointer}/${escapePointer(String(field))}`,
    detail: describe(error),
  };
}

function describe({ keyword, params }: ErrorObject): string {
  switch (keyword) {
    case 'required':
      return 'is missing';
    case 'dependentRequired':
      return `is missing: it is required together with ${params['property']}`;
    case 'additionalProperties':
      return 'is not a field of the schema: remove it';
    case 'false schema':
      return 'is not allowed by the schema: remove it';
    case 'type':
      return `must be ${[params['type']].flat().map(nameOfType).join(' or ')}`;
    case 'format':
      return `must be ${FORMATS[params['format']] ?? params['format']}`;
    case 'pattern':
      return `must match the pattern ${params['pattern']}`;
    case 'const':
      return oneOf([params['allowedValue']]);
    case 'enum':
      return oneOf(params['allowedValues']);
    case 'minimum':
    case 'exclusiveMinimum':
    case 'maximum':
    case 'exclusiveMaximum':
      return `must be ${COMPARISONS[params['comparison']]} ${params['limit']}`;
    case 'multipleOf':
      return `must be a multiple of ${params['multipleOf']}`;
    case 'minLength':
      return `must have at least ${count(params['limit'], 'character', 'characters')}`;
    case 'maxLength':
      return `must have at most ${count(params['limit'], 'character', 'characters')}`;
    case 'minItems':
      return `must have at least ${count(params['limit'], 'entry', 'entries')}`;
    case 'maxItems':
    case 'items':
      return `must have at most ${count(params['limit'], 'entry', 'entries')}`;
    case 'minProperties':
      return `must have at least ${count(params['limit'], 'field', 'fields')}`;
    case 'maxProperties':
      return `must have at most ${count(params['limit'], 'field', 'fields')}`;
    case 'uniqueItems':
      return 'must not have the same entry twice';
    case 'contains':
      return describeContains(params['minContains'], params['maxContains']);
    case 'propertyNames':
      return 'has a field whose name does not match propertyNames of the schema';
    case 'anyOf':
      return 'must match at least one of the alternatives in anyOf of the schema';
    case 'oneOf':
      return 'must match exactly one of the alternatives in oneOf of the schema';
    case 'not':
      return 'must not match what the schema has under not';
    case 'if':
      return `must match what the schema has under ${params['failingKeyword']}`;
    default:
      return `does not match ${keyword} of the schema`;
  }
}

function nameOfType(type: string): string {
  return TYPES[type] ?? type;
}

function count(limit: number, one: string, many: string): string {
  return `${limit} ${limit === 1 ? one : many}`;
}

function oneOf(values: readonly unknown[]): string {
  const text = values.map((value) => JSON.stringify(value)).join(', ');
  if (text.length > MAX_REPEATED) return 'must be a value that the schema lists';
  return `must be ${values.length > 1 ? 'one of: ' : ''}${text}`;
}

function describeContains(least: number, most: number | undefined): string {
  const bounds = most === undefined ? `at least ${least}` : `${least} to ${most}`;
  return `must have ${bounds} of the entries that contains of the schema describes`;
}
