import { hmac, type SymmetricKey } from '../basics/symmetric.js';
import { PayloadValues } from '../filter/payload-values.js';
import type { InputError } from '../http/problem.js';
import { decodeHeaderValue } from './business-keys.js';
import {
  BASE,
  countMarks,
  KEY_KEYWORD,
  marksOf,
  placeOf,
  pointerTo,
  type Schema,
  SUBJECT_KEYWORD,
} from './schema-keywords.js';

/** Characters of a subject in a request. In a payload it may be longer. */
export const MAX_SUBJECT_LENGTH = 1_024;
/** Bytes of a token's HMAC. */
const TOKEN_BYTES = 24;

/**
 * The person that a payload is about: the value of the property that the schema marks with {@link SUBJECT_KEYWORD}.
 *
 * @param payload parsed, or its values
 */
export function subjectInPayload(schema: Schema, payload: unknown): string | undefined {
  const [path] = marksOf(schema).subjects;
  const value = path && PayloadValues.of(payload).at(placeOf(path));
  if (Number.isSafeInteger(value)) return String(value);
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** Checks the marks of a schema that an account brings. */
export function checkSubjectProperties(schema: Schema): InputError[] {
  const { keys, subjects } = marksOf(schema);
  const pointers = keys.map(pointerTo);
  const errors: InputError[] = subjects
    .map(pointerTo)
    .filter((pointer) => pointers.includes(pointer))
    .map((pointer) => ({
      pointer,
      detail: `cannot be both ${KEY_KEYWORD} and ${SUBJECT_KEYWORD}: a business key can be looked for after an erasure`,
    }));
  if (subjects.length > 1)
    errors.push({ pointer: BASE, detail: `must mark at most one property with ${SUBJECT_KEYWORD}` });
  if (countMarks(schema, SUBJECT_KEYWORD) > subjects.length)
    errors.push({
      pointer: BASE,
      detail: `has ${SUBJECT_KEYWORD} where it has no effect: mark a property with true, below "properties" alone and outside of lists, definitions and alternatives`,
    });
  return errors;
}

/** Reads the header `Hookline-Subject`: a value, percent-encoded. @returns `undefined` if it is not one */
export function parseSubjectHeader(text: string): string | undefined {
  const value = decodeHeaderValue(text.trim());
  return value !== undefined && value.length > 0 && value.length <= MAX_SUBJECT_LENGTH ? value : undefined;
}

/**
 * Token of a subject wherever something is stored: an HMAC (RFC 2104, SHA-256, truncated). Unicode is normalized, and
 * an e-mail address is compared without regard to case, because people write theirs in both ways.
 *
 * @param secret of the account
 */
export function subjectToken(secret: SymmetricKey, value: string): string {
  const normal = value.trim().normalize('NFC');
  const name = normal.includes('@') ? normal.toLowerCase() : normal;
  // The names of business keys, which have the same secret, are not empty.
  const digest = hmac(secret).update(`\0subject\0${name}`).digest();
  return digest.subarray(0, TOKEN_BYTES).toString('base64url');
}
