import type { z } from 'zod';
import { toPointer } from '../../../packages/payload-contract/src/json-pointer.js';
import { type InputError, MAX_ERRORS, MAX_SHOWN, Problem } from '../../domain/http/problem.js';
import { cutText } from '../../domain/text/unicode.js';
import { findExcess } from './bounds/find-excess.js';

/** Checks a JSON body. @throws Problem 400 with a pointer to every wrong place; what is too large is not looked into */
export function checkBody<T extends z.ZodType>(schema: T, body: unknown): z.output<T> {
  return check(schema, body, (path) => ({ pointer: toPointer(path) }));
}

/** Checks the parameters of a query. @throws Problem 400 naming every wrong one */
export function checkQuery<T extends z.ZodType>(schema: T, query: Record<string, unknown>): z.output<T> {
  return check(schema, query, (path) => ({ parameter: path.join('.') }));
}

function check<T extends z.ZodType>(
  schema: T,
  input: unknown,
  locate: (path: PropertyKey[]) => Omit<InputError, 'detail'>,
): z.output<T> {
  const excess = findExcess(schema, input);
  if (excess) throw invalidRequest([{ ...locate(excess.path), detail: excess.detail }]);
  const result = schema.safeParse(input, { error: describe });
  if (result.success) return result.data;
  const errors = result.error.issues.flatMap((issue) => {
    const names = issue.code === 'unrecognized_keys' ? issue.keys : [undefined];
    return names.map((name) => ({
      ...locate(name === undefined ? issue.path : [...issue.path, name]),
      detail: issue.message,
    }));
  });
  throw invalidRequest(errors);
}

/**
 * Error of a value and the value to send instead, as the end of a sentence that begins with its name. A schema that has
 * a message of its own comes first.
 */
function describe(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined ? 'is missing' : `must be ${TYPES[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return `must be ${issue.values.length > 1 ? 'one of: ' : ''}${issue.values.join(', ')}`;
    case 'too_small':
      return describeBound('at least', Number(issue.minimum), issue.origin);
    case 'too_big':
      return describeBound('at most', Number(issue.maximum), issue.origin);
    case 'invalid_format':
      return FORMATS[issue.format] ?? 'does not have the expected form';
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`;
    case 'unrecognized_keys':
      return describeUnknown(knownKeys(issue.inst));
    default:
      return 'is not valid';
  }
}

const TYPES: Partial<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};

const FORMATS: Partial<Record<string, string>> = {
  datetime: 'must be an ISO 8601 time in UTC, such as 2026-01-31T12:00:00Z',
  date: 'must be an ISO 8601 date, such as 2026-01-31',
  url: 'must be a URL',
};

const UNITS: Partial<Record<string, [one: string, many: string]>> = {
  string: ['character', 'characters'],
  array: ['entry', 'entries'],
  map: ['entry', 'entries'],
};

function describeBound(bound: string, count: number, origin: string): string {
  const unit = UNITS[origin];
  return unit ? `must have ${bound} ${count} ${unit[count === 1 ? 0 : 1]}` : `must be ${bound} ${count}`;
}

function describeUnknown(known: readonly string[]): string {
  return known.length > 0
    ? `is unknown; known here: ${known.join(', ')}`
    : 'is unknown; nothing is expected here';
}

function knownKeys(schema: unknown): string[] {
  const definition = (schema as Partial<z.ZodObject> | undefined)?._zod?.def;
  return definition && 'shape' in definition ? Object.keys(definition.shape) : [];
}

/**
 * A request that is not valid.
 *
 * @param errors every wrong place, of which the first are told; a detail is the end of a sentence that begins with the
 * place
 */
export function invalidRequest(errors: readonly InputError[]): Problem {
  const told = errors.slice(0, MAX_ERRORS).map(({ pointer, parameter, detail }) => {
    return `${cutText(pointer || parameter || 'the body', MAX_SHOWN, '…')} ${detail}`;
  });
  const places = [...told, ...(errors.length > told.length ? ['and more'] : [])];
  return new Problem('invalid_request', `The request is not valid: ${places.join('; ')}.`, { errors });
}
