import { _, type Options } from 'ajv';
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { InputError } from '../http/problem.js';
import { isEmailAddress } from './email-address.js';
import { compilePattern } from './pattern.js';
import { describePayloadError } from './payload-error.js';
import { KEY_KEYWORD, type Schema, SUBJECT_KEYWORD } from './schema-keywords.js';

/** The most errors of a payload that are listed. */
export const MAX_ERRORS = 20;

const FORMATS = ['date', 'date-time', 'email', 'hostname', 'ipv4', 'ipv6', 'time', 'uri', 'uuid'] as const;

const UTC_DATE_TIME =
  /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T(([01]\d|2[0-3]):[0-5]\d:[0-5]\d|23:59:60)(\.\d+)?(Z|\+00:00)$/;

/** What is wrong with a payload: the first errors, and whether there are more. */
export interface Violations {
  errors: InputError[];
  more: boolean;
}

/** Checks a payload. @returns `undefined` if it is valid */
export type Validator = (value: unknown) => Violations | undefined;

/**
 * Compiles a schema (JSON Schema, draft 2020-12) that is known to be one: {@link checkSchemaItself}. Patterns are run by RE2, in time that
 * grows with the text alone, and unique items and enumerations are found by a set.
 *
 * @throws Error if the schema cannot be compiled
 */
export function compilePayloadSchema(schema: Schema): Validator {
  // Whether a payload is valid shows with its first error. Only if there is one, a second function looks for more.
  const isValid = compile(schema, { allErrors: false });
  let findErrors: ValidateFunction | undefined;
  return (value) => {
    try {
      if (isValid(value)) return undefined;
      findErrors ??= compile(schema, { allErrors: true, code: { process: stopEarly } });
      return violations(isValid.errors ?? [], collect(findErrors, value));
    } catch (error) {
      // Comparing values goes as deep as they do.
      if (error instanceof RangeError)
        return { errors: [{ pointer: '', detail: 'is nested too deeply' }], more: false };
      throw error;
    }
  };
}

/** Whether something is a JSON Schema, and can be compiled. @returns what is wrong; `undefined` if nothing is */
export function checkSchemaItself(schema: Schema): string | undefined {
  try {
    compile(schema, { validateSchema: true, meta: true });
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function compile(schema: Schema, options: Options): ValidateFunction {
  const { code, ...others } = options;
  const ajv = new Ajv2020({
    strict: true,
    strictTypes: false,
    strictTuples: false,
    strictRequired: false,
    ownProperties: true,
    logger: false,
    meta: false,
    validateSchema: false,
    ...others,
    code: {
      ...code,
      regExp: Object.assign((pattern: string) => compilePattern(pattern), { code: 'compilePattern' }),
    },
  });
  for (const keyword of [KEY_KEYWORD, SUBJECT_KEYWORD]) ajv.addKeyword({ keyword, schemaType: 'boolean' });
  addFormats.default(ajv, [...FORMATS]);
  ajv.addFormat('idn-email', { validate: isEmailAddress });
  ajv.addFormat('utc-date-time', {
    validate: (text: string) => UTC_DATE_TIME.test(text) && isCalendarDay(text.slice(0, 10)),
  });
  replaceKeywords(ajv);
  return ajv.compile(schema);
}

/** Keywords that would take the time of a product: of values by values, of items by items, of a pattern by a text that is too long anyway. */
function replaceKeywords(ajv: Ajv2020): void {
  for (const keyword of ['enum', 'uniqueItems', 'pattern']) ajv.removeKeyword(keyword);
  ajv.addKeyword({
    keyword: 'enum',
    schemaType: 'array',
    compile(values: unknown[]) {
      const allowed = keysOf(values);
      return (value: unknown) => allowed.has(keyOf(value));
    },
    error: { message: '', params: ({ schemaCode }) => _`{allowedValues: ${schemaCode}}` },
  });
  ajv.addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    compile: (isUnique: boolean) => (items: unknown[]) => !isUnique || keysOf(items).size === items.length,
  });
  ajv.addKeyword({
    keyword: 'pattern',
    type: 'string',
    schemaType: 'string',
    compile(source: string, { maxLength = Number.POSITIVE_INFINITY }) {
      const pattern = compilePattern(source);
      return (text: string) => text.length > 2 * maxLength || pattern.test(text);
    },
    error: { message: '', params: ({ schemaCode }) => _`{pattern: ${schemaCode}}` },
  });
}

function keysOf(values: readonly unknown[]): Set<unknown> {
  return new Set(values.map(keyOf));
}

/** Equal for equal JSON values only. A scalar is its own key; keys of lists and objects begin with a mark that texts have twice. */
function keyOf(value: unknown): unknown {
  if (typeof value === 'object' && value !== null) return `\0${canonical(value)}`;
  return typeof value === 'string' && value.startsWith('\0') ? `\0${value}` : value;
}

/** A list or an object as a text, with members in order of their names. */
function canonical(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, inner]) => `${JSON.stringify(name)}:${canonical(inner)}`).join()}}`;
}

/** Makes Ajv's function throw the errors that it has found when there are enough. Ajv has no option for it. */
function stopEarly(code: string): string {
  return code.replace(/\berrors(\+\+| = vErrors\.length);/g, `$&if(errors>=${MAX_ERRORS + 1})throw vErrors;`);
}

function collect(findErrors: ValidateFunction, value: unknown): ErrorObject[] {
  try {
    findErrors(value);
    return findErrors.errors ?? [];
  } catch (thrown) {
    if (!Array.isArray(thrown)) throw thrown;
    // It may have stopped between alternatives of which the next one matches.
    return thrown.filter(({ schemaPath }: ErrorObject) => !/\/(anyOf|oneOf|contains)\//.test(schemaPath));
  }
}

/** @param first the errors of a function that stops at the first one, for the case that the other found none that are certain */
function violations(first: readonly ErrorObject[], found: readonly ErrorObject[]): Violations {
  const all = found.length > 0 ? found : first;
  return { errors: all.slice(0, MAX_ERRORS).map(describePayloadError), more: all.length > MAX_ERRORS };
}

/** JavaScript takes 30 February for 2 March; the day that comes out must be the one that went in. */
function isCalendarDay(day: string): boolean {
  return new Date(`${day}T00:00:00Z`).toISOString().startsWith(day);
}
