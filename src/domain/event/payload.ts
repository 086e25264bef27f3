import { type ParseErrorCode, printParseErrorCode, visit } from 'jsonc-parser';
import type { Violations } from '../../../packages/payload-contract/src/index.js';
import { Problem } from '../http/problem.js';
import { wellFormedJson } from '../text/unicode.js';

/** A payload, as text and as a value. */
export interface Payload {
  /** As it was received; encoding it as UTF-8 gives the bytes back. */
  text: string;
  /**
   * A parsed copy, for looking at: numbers in it may have lost digits, which the check against a schema takes from the
   * text.
   */
  value: unknown;
}

/**
 * Reads a payload. The parsed copy is thrown away after it has been checked: what is delivered is the text as it was
 * received.
 *
 * @param body the bytes as received, at most `MAX_PAYLOAD_BYTES`
 * @throws Problem `invalid_json`
 */
export function readPayload(body: Uint8Array): Payload {
  const text = decode(body);
  return { text, value: parseJson(text) };
}

/** For a payload that does not match its kind's schema, with what is wrong. */
export function invalidPayload(kind: string, { errors, more }: Violations): Problem {
  const told = errors.map(({ pointer, detail }) => `${pointer || 'the body'} ${detail}`).join('; ');
  const rest = more ? '; and more' : '';
  return new Problem('invalid_payload', `The body is not a valid ${kind}: ${told}${rest}.`, { errors });
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
 * @throws Problem `invalid_json` with line and column of the first mistake. The text itself is not repeated: it may
 * hold personal data.
 */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new Problem('invalid_json', `The body is not valid JSON: ${locateMistake(text)}.`, { cause });
  }
}

/**
 * Parses JSON in well-formed Unicode (RFC 7493, section 2.1): what is stored and answered again. A payload is delivered
 * as it is.
 *
 * @throws Problem `invalid_json`
 */
export function parseUnicodeJson(text: string): unknown {
  const value = parseJson(text);
  if (wellFormedJson(text) !== text)
    throw new Problem(
      'invalid_json',
      'The body has an escape that is half of a surrogate pair, and no character.',
    );
  return value;
}

/**
 * JSON.parse does not say where it stopped, so a tolerant parser is run after it has failed, up to the first mistake:
 * to go on behind it can take many times as long as reading what is right.
 */
function locateMistake(text: string): string {
  if (text.startsWith('\ufeff')) return 'it begins with a byte order mark (U+FEFF), which JSON must not have';
  if (text.trim() === '') return 'it is empty';
  let first: string | undefined;
  const onError = (code: ParseErrorCode, offset: number) => {
    first = describeMistake(text, code, offset);
    throw new Error(first);
  };
  try {
    visit(text, { onError }, { disallowComments: true, allowTrailingComma: false });
  } catch {
    first ??= 'it is nested too deeply';
  }
  return first ?? 'it holds a character that JSON does not allow';
}

/** @param offset characters from the beginning */
function describeMistake(text: string, code: ParseErrorCode, offset: number): string {
  const before = text.slice(0, offset).split('\n');
  const column = (before.at(-1)?.length ?? 0) + 1;
  const name = printParseErrorCode(code)
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase();
  return `${name} at line ${before.length}, column ${column}`;
}
