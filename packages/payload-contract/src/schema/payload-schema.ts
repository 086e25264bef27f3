import type { Options } from 'ajv';
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import { type Holder, parseExactly, ROOT } from '../values/exact-json.js';
import { addExactComparisons, replaceKeywords } from '../values/value-keywords.js';
import { addPayloadFormats } from './formats.js';
import { MAX_ERRORS, type Mistake } from './mistake.js';
import { compilePattern } from './pattern.js';
import { describePayloadError } from './payload-error.js';
import { comparesNumbers, KEY_KEYWORD, type Schema, SUBJECT_KEYWORD, withoutIds } from './schema-keywords.js';

/** Errors of a payload: the first ones, and whether there are more. */
export interface Violations {
  errors: Mistake[];
  more: boolean;
}

/**
 * Checks a payload. @returns `undefined` if it is valid
 *
 * @param value as `JSON.parse` gives it
 * @param text the JSON text, of which every digit of every number counts; absent: numbers are what JSON of the value
 * says
 */
export type Validator = (value: unknown, text?: string) => Violations | undefined;

/**
 * Compiles a schema (JSON Schema, draft 2020-12) that is known to be one: {@link checkSchemaItself}. Patterns are run
 * by RE2, in time that grows with the text alone, unique items and enumerations are found by a set, and numbers are
 * compared as the decimals that were written.
 *
 * @throws Error if the schema cannot be compiled
 */
export function compilePayloadSchema(schema: Schema): Validator {
  const check = firstThenAll(schema, false);
  let checkExactly: ReturnType<typeof firstThenAll> | undefined;
  const isComparing = comparesNumbers(schema);
  return (value, text) => {
    try {
      const exact = isComparing && text !== undefined ? parseExactly(text) : undefined;
      if (!exact) return check({ [ROOT]: value });
      checkExactly ??= firstThenAll(schema, true);
      return checkExactly(exact);
    } catch (error) {
      // Comparing values goes as deep as they do.
      if (error instanceof RangeError)
        return { errors: [{ pointer: '', detail: 'is nested too deeply' }], more: false };
      throw error;
    }
  };
}

/** Whether a payload is valid shows with its first error. Only if there is one, a second function looks for more. */
function firstThenAll(schema: Schema, exact: boolean): (holder: Holder) => Violations | undefined {
  const isValid = compile(schema, { allErrors: false }, exact);
  let findErrors: ValidateFunction | undefined;
  return (holder) => {
    if (call(isValid, holder)) return undefined;
    findErrors ??= compile(schema, { allErrors: true, code: { process: stopEarly } }, exact);
    return violations(isValid.errors ?? [], collect(findErrors, holder));
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

/** @param exact whether payloads come from {@link parseExactly} */
function compile(schema: Schema, options: Options, exact = false): ValidateFunction {
  const { code, ...others } = options;
  const ajv = new Ajv2020({
    strict: true,
    // Which keywords are taken, and which mean nothing, is decided before; formats that are not known mean nothing.
    strictSchema: false,
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
  addPayloadFormats(ajv);
  replaceKeywords(ajv);
  if (exact) addExactComparisons(ajv);
  return ajv.compile(withoutIds(schema));
}

/** Makes Ajv's function throw the errors that it has found when there are enough. Ajv has no option for it. */
function stopEarly(code: string): string {
  return code.replace(/\berrors(\+\+| = vErrors\.length);/g, `$&if(errors>=${MAX_ERRORS + 1})throw vErrors;`);
}

/** Keywords are told what a value is in, also the whole payload. */
function call(validate: ValidateFunction, holder: Holder): boolean {
  const place = { instancePath: '', parentData: holder, parentDataProperty: ROOT };
  return validate(holder[ROOT], { ...place, rootData: holder, dynamicAnchors: {} });
}

function collect(findErrors: ValidateFunction, holder: Holder): ErrorObject[] {
  try {
    call(findErrors, holder);
    return findErrors.errors ?? [];
  } catch (thrown) {
    if (!Array.isArray(thrown)) throw thrown;
    // It may have stopped between alternatives of which the next one matches.
    return thrown.filter(({ schemaPath }: ErrorObject) => !/\/(anyOf|oneOf|contains)\//.test(schemaPath));
  }
}

/**
 * @param first the errors of a function that stops at the first one, for the case that the other found none that are
 * certain
 */
function violations(first: readonly ErrorObject[], found: readonly ErrorObject[]): Violations {
  const all = found.length > 0 ? found : first;
  return { errors: all.slice(0, MAX_ERRORS).map(describePayloadError), more: all.length > MAX_ERRORS };
}
