import { PayloadValues } from '../../../packages/payload-contract/src/filter/index.js';
import {
  marksOf,
  ORDER_KEYWORD,
  placeOf,
  type Schema,
} from '../../../packages/payload-contract/src/schema/schema-keywords.js';
import { hmac, type SymmetricKey } from '../basics/symmetric.js';
import { decodeHeaderValue } from './business-keys.js';

/** Characters of an order key in a request. In a payload it may be longer. */
export const MAX_ORDER_KEY_LENGTH = 256;
/** Bytes of a token's HMAC: enough that two keys of an account never have the same one. */
const TOKEN_BYTES = 12;

/** Token of all events where an endpoint has one order for them. */
export const ONE_FOR_ALL = '*';

/**
 * The order key in a payload: the value of the property that the schema marks with {@link ORDER_KEYWORD}.
 *
 * @param payload parsed, or its values
 */
export function orderKeyInPayload(schema: Schema, payload: unknown): string | undefined {
  const [path] = marksOf(schema).orders;
  const value = path && PayloadValues.of(payload).at(placeOf(path));
  if (Number.isSafeInteger(value)) return String(value);
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** Reads the header `Hookline-Order-Key`: a value, percent-encoded. @returns `undefined` if it is not one */
export function parseOrderHeader(text: string): string | undefined {
  const value = decodeHeaderValue(text.trim());
  return value !== undefined && value.length > 0 && value.length <= MAX_ORDER_KEY_LENGTH ? value : undefined;
}

/** The form of tokens of order keys. */
export const ORDER_TOKEN = /^o:[\w-]{16}$/;

/**
 * Token of an order key, which is stored and sent in its place: an HMAC (RFC 2104, SHA-256, truncated).
 *
 * @param secret of the account
 */
export function orderToken(secret: SymmetricKey, value: string): string {
  // The names of business keys, which have the same secret, are not empty.
  const digest = hmac(secret).update(`\0order\0${value}`).digest();
  return `o:${digest.subarray(0, TOKEN_BYTES).toString('base64url')}`;
}
