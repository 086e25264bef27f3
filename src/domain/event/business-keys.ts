import { PayloadValues } from '../../../packages/payload-contract/src/filter/index.js';
import {
  KEY_KEYWORD,
  MAX_KEY_NAME_LENGTH,
  MAX_KEYS_PER_SCHEMA,
  marksOf,
  placeOf,
  type Schema,
} from '../../../packages/payload-contract/src/schema/schema-keywords.js';
import { hmac, type SymmetricKey } from '../basics/symmetric.js';
import { KEY_TOKEN_PREFIX } from './key-token.js';

/**
 * Name of an event outside of Hookline, such as the number of an order. A name of a nested property has its parents'
 * names in front, with dots between: `customer.id`.
 */
export interface BusinessKey {
  name: string;
  value: string;
}

/** Keys that one request may name in its header. */
export const MAX_KEYS_PER_REQUEST = 5;
/** Characters of a value. A payload with a longer one is accepted, but cannot be found by it. */
export const MAX_KEY_VALUE_LENGTH = 256;

/** The form of a name in a request. */
export const KEY_NAME = /^[A-Za-z_][\w.-]*$/;
/** Bytes of a token's HMAC: enough that two keys of an account never have the same one. */
const TOKEN_BYTES = 12;

/**
 * The business keys in a payload: scalars at the properties that the schema marks with {@link KEY_KEYWORD}.
 *
 * @param payload parsed, or its values
 */
export function keysInPayload(schema: Schema, payload: unknown): BusinessKey[] {
  const values = PayloadValues.of(payload);
  return keyPathsIn(schema).flatMap((path) => {
    const value = toText(values.at(placeOf(path)));
    return value === undefined ? [] : [{ name: path.join('.'), value }];
  });
}

/** The names of the business keys that a schema marks. */
export function keyNamesIn(schema: Schema): string[] {
  return keyPathsIn(schema).map((path) => path.join('.'));
}

function keyPathsIn(schema: Schema) {
  return marksOf(schema).keys.slice(0, MAX_KEYS_PER_SCHEMA);
}

/** Reads `name:value`, as queries name a key. @returns `undefined` if it is not that */
export function parseKeyFilter(text: string): BusinessKey | undefined {
  const colon = text.indexOf(':');
  return colon < 0 ? undefined : toKey(text.slice(0, colon), text.slice(colon + 1));
}

/**
 * Reads the header `Hookline-Key`: `name=value`, several with commas between. Values are percent-encoded (RFC 3986)
 * where they have other characters than visible ASCII, or a comma or percent sign.
 *
 * @returns the keys, or what is wrong
 */
export function parseKeyHeader(text: string): BusinessKey[] | string {
  const parts = text.split(',').map((part) => part.trim());
  if (parts.length > MAX_KEYS_PER_REQUEST) return `must name at most ${MAX_KEYS_PER_REQUEST} keys`;
  const keys = parts.map((part) => {
    const equals = part.indexOf('=');
    const value = equals < 0 ? undefined : decodeHeaderValue(part.slice(equals + 1));
    return value === undefined ? undefined : toKey(part.slice(0, equals), value);
  });
  return keys.every((key) => key !== undefined)
    ? keys
    : `must be name=value, such as customer=c-17: a name of at most ${MAX_KEY_NAME_LENGTH} letters, digits, _, . and -, ` +
        `and a value of 1 to ${MAX_KEY_VALUE_LENGTH} characters; percent-encode commas, percent signs and what is not ASCII`;
}

/**
 * Token of a key: an HMAC (RFC 2104, SHA-256, truncated), so that it says nothing about the value, and nothing about
 * other accounts.
 *
 * @param secret of the account
 */
export function keyToken(secret: SymmetricKey, { name, value }: BusinessKey): string {
  const digest = hmac(secret).update(`${name}\0${value}`).digest();
  return KEY_TOKEN_PREFIX + digest.subarray(0, TOKEN_BYTES).toString('base64url');
}

function toKey(name: string, value: string): BusinessKey | undefined {
  const isValid = KEY_NAME.test(name) && !isTooLong(name) && toText(value) !== undefined;
  return isValid ? { name, value } : undefined;
}

function isTooLong(name: string): boolean {
  return name.length > MAX_KEY_NAME_LENGTH;
}

/** Numbers that JavaScript cannot hold exactly would not be found by the text that was sent. */
function toText(value: unknown): string | undefined {
  if (typeof value === 'string')
    return value.length > 0 && value.length <= MAX_KEY_VALUE_LENGTH ? value : undefined;
  return Number.isSafeInteger(value) ? String(value) : undefined;
}

/** Reads a value that is percent-encoded (RFC 3986); `undefined` if it is not visible ASCII, or badly encoded. */
export function decodeHeaderValue(text: string): string | undefined {
  if (!/^[\x21-\x7e]*$/.test(text)) return undefined;
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
