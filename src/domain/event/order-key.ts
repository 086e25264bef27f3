import { hmac, type SymmetricKey } from '../basics/symmetric.js';
import { PayloadValues } from '../filter/payload-values.js';
import type { InputError } from '../http/problem.js';
import { decodeHeaderValue } from './business-keys.js';
import { BASE, countMarks, marksOf, ORDER_KEYWORD, placeOf, type Schema } from './schema-keywords.js';

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

/** Checks the marks of a schema that an account brings. */
export function checkOrderProperties(schema: Schema): InputError[] {
  const { orders } = marksOf(schema);
  const errors: InputError[] = [];
  if (orders.length > 1)
    errors.push({ pointer: BASE, detail: `must mark at most one property with ${ORDER_KEYWORD}` });
  if (countMarks(schema, ORDER_KEYWORD) > orders.length)
    errors.push({
      pointer: BASE,
      detail: `has ${ORDER_KEYWORD} where it has no effect: mark a property with true, below "properties" alone and outside of lists, definitions and alternatives`,
    });
  return errors;
}

/** Reads the header `Hookline-Order-Key`: a value, percent-encoded. @returns `undefined` if it is not one */
export function parseOrderHeader(text: string): string | undefined {
  const value = decodeHeaderValue(text.trim());
  return value !== undefined && value.length > 0 && value.length <= MAX_ORDER_KEY_LENGTH ? value : undefined;
}

/**
 * What stands for an order key wherever it is stored or sent: an HMAC (RFC 2104, SHA-256, truncated).
 *
 * @param secret of the account
 */
export function orderToken(secret: SymmetricKey, value: string): string {
  // The names of business keys, which have the same secret, are not empty.
  const digest = hmac(secret).update(`\0order\0${value}`).digest();
  return `o:${digest.subarray(0, TOKEN_BYTES).toString('base64url')}`;
}
