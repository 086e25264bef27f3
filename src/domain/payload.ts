import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { type ParseError, parse as parseTolerantly, printParseErrorCode } from 'jsonc-parser';
import type { EventKind } from './event-kinds.js';
import { type InputError, Problem } from './problem.js';

/** The largest payload that is accepted, in bytes: 256 KiB. */
export const MAX_PAYLOAD_BYTES = 256 * 1024;

const UTC_DATE_TIME =
  /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?(Z|\+00:00)$/;

const ajv = new Ajv2020({ allErrors: true, strict: true });
addFormats.default(ajv, ['email']);
ajv.addFormat('utc-date-time', {
  validate: (text: string) => UTC_DATE_TIME.test(text) && isCalendarDay(text.slice(0, 10)),
});

/** JavaScript takes 30 February for 2 March; the day that comes out must be the one that went in. */
function isCalendarDay(day: string): boolean {
  return new Date(`${day}T00:00:00Z`).toISOString().startsWith(day);
}

const validators = new Map<string, ValidateFunction>();

/**
 * Checks a payload against its kind. The parsed copy is thrown away: what is delivered is the text as it was received.
 *
 * @param body the bytes as received, at most {@link MAX_PAYLOAD_BYTES}
 * @returns the same bytes as text; encoding it as UTF-8 gives the bytes back
 * @throws Problem `invalid_json` or `invalid_payload`, naming every wrong place
 */
export function validatePayload(kind: EventKind, body: Uint8Array): string {
  const text = decode(body);
  const value = parseJson(text);
  let validate = validators.get(kind.name);
  if (!validate) {
    validate = ajv.compile(kind.schema);
    validators.set(kind.name, validate);
  }
  if (!validate(value)) {
    const errors = (validate.errors ?? []).map(describe);
    throw new Problem(
      'invalid_payload',
      `The body is no valid ${kind.name}: ${errors.map((e) => `${e.pointer || 'the body'} ${e.detail}`).join('; ')}.`,
      { errors },
    );
  }
  return text;
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

function escapePointer(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}
