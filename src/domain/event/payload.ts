import type { ErrorObject, ValidateFunction } from 'ajv/dist/2020.js';
import { type ParseError, parse as parseTolerantly, printParseErrorCode } from 'jsonc-parser';
import { dropOldest } from '../basics/drop-oldest.js';
import { escapePointer } from '../http/json-pointer.js';
import { type InputError, Problem } from '../http/problem.js';
import type { EventKind } from './event-kinds.js';
import { compilePayloadSchema } from './payload-schema.js';

/** The largest payload that is accepted, in bytes: 256 KiB. */
export const MAX_PAYLOAD_BYTES = 256 * 1024;

/** Wrong places that are named; a payload can have more than anybody reads. */
const MAX_ERRORS = 20;
/** Compiled schemas kept, so that each is compiled once. */
const MAX_VALIDATORS = 500;
const validators = new Map<string, ValidateFunction>();

/** A payload that is valid for its kind. */
export interface ValidPayload {
  /** As it was received; encoding it as UTF-8 gives the bytes back. */
  text: string;
  /** A parsed copy, for looking at: numbers in it may have lost digits. */
  value: unknown;
}

/**
 * Checks a payload against its kind. The parsed copy is thrown away: what is delivered is the text as it was received.
 *
 * @param body the bytes as received, at most {@link MAX_PAYLOAD_BYTES}
 * @throws Problem `invalid_json` or `invalid_payload`, naming every wrong place
 */
export function validatePayload(kind: EventKind, body: Uint8Array): ValidPayload {
  const text = decode(body);
  const value = parseJson(text);
  const validate = validatorOf(kind);
  if (!isValid(validate, value)) {
    const all = validate.errors ?? [];
    const errors = all.slice(0, MAX_ERRORS).map(describe);
    const more = all.length > MAX_ERRORS ? `; and ${all.length - MAX_ERRORS} more` : '';
    throw new Problem(
      'invalid_payload',
      `The body is no valid ${kind.name}: ${errors.map((e) => `${e.pointer || 'the body'} ${e.detail}`).join('; ')}${more}.`,
      { errors },
    );
  }
  return { text, value };
}

function validatorOf({ schema, schema_key }: EventKind): ValidateFunction {
  const known = validators.get(schema_key);
  if (known) return known;
  const validate = compilePayloadSchema(schema);
  validators.set(schema_key, validate);
  dropOldest(validators, MAX_VALIDATORS);
  return validate;
}

function isValid(validate: ValidateFunction, value: unknown): boolean {
  try {
    return validate(value);
  } catch (cause) {
    // Comparing values goes as deep as they do.
    if (cause instanceof RangeError)
      throw new Problem('invalid_payload', 'The body is nested too deeply.', { cause });
    throw cause;
  }
}

/** UTF-8 without a byte order mark (RFC 8259, section 8.1); anything else could not be given back byte for byte. */
function decode(body: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body);
  } catch {
    throw new Problem('invalid_json', 'The body is not valid UTF-8.');
  }
}

/**
 * Parses JSON.
 *
 * @throws Problem `invalid_json` with line and column of the first mistake. The text itself is not repeated: it may hold personal data.
 */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new Problem('invalid_json', `The body is not valid JSON: ${locateMistake(text)}.`, { cause });
  }
}

/** JSON.parse does not say where it stopped; a tolerant parser does. Only asked when parsing has failed. */
function locateMistake(text: string): string {
  if (text.trim() === '') return 'it is empty';
  const mistakes: ParseError[] = [];
  try {
    parseTolerantly(text, mistakes, { disallowComments: true, allowTrailingComma: false });
  } catch {
    return 'it is nested too deeply';
  }
  const [first] = mistakes;
  if (!first) return 'it holds a character that JSON does not allow';
  const before = text.slice(0, first.offset).split('\n');
  const column = (before.at(-1)?.length ?? 0) + 1;
  const name = printParseErrorCode(first.error)
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase();
  return `${name} at line ${before.length}, column ${column}`;
}

function describe(error: ErrorObject): InputError {
  if (error.keyword === 'required') {
    return {
      pointer: `${error.instancePath}/${escapePointer(String(error.params['missingProperty']))}`,
      detail: 'is missing',
    };
  }
  if (error.keyword === 'format' && error.params['format'] === 'utc-date-time') {
    return {
      pointer: error.instancePath,
      detail: 'must be an ISO 8601 time in UTC, such as 2026-01-31T12:00:00Z',
    };
  }
  return { pointer: error.instancePath, detail: error.message ?? 'is not valid' };
}
