import { PayloadValues } from '../../../packages/payload-contract/src/filter/index.js';
import {
  marksOf,
  placeOf,
  type Schema,
  SUBJECT_KEYWORD,
} from '../../../packages/payload-contract/src/schema/schema-keywords.js';
import { hmac, type SymmetricKey } from '../basics/symmetric.js';
import { decodeHeaderValue } from './business-keys.js';

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
