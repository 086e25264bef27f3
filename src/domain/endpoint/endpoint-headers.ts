import { toPointer } from '../../../packages/payload-contract/src/json-pointer.js';
import type { InputError } from '../http/problem.js';
import { MASKED_VALUE } from '../sending/delivery-options.js';

export { MASKED_VALUE };

export const MAX_HEADERS = 20;
const MAX_HEADER_VALUE_LENGTH = 4_096;
const MAX_HEADER_NAME_LENGTH = 128;
export const MAX_PREFIX_LENGTH = 64;

/**
 * Hookline and HTTP itself decide these; hop-by-hop ones (RFC 9110, section 7.6.1) would change how the request is
 * read.
 */
const RESERVED = new Set([
  'accept-encoding',
  'connection',
  'date',
  'expect',
  'host',
  'http2-settings',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'user-agent',
  'via',
]);
const RESERVED_PREFIXES = ['webhook-', 'content-', 'proxy-', 'sec-'];

/** The headers with a signature, under a prefix (Standard Webhooks specification). */
export const signatureHeaderNames = (prefix: string) =>
  [`${prefix}id`, `${prefix}timestamp`, `${prefix}signature`] as const;

/**
 * Checks headers that an endpoint's owner wants to be sent along; every wrong one is an error of its own.
 *
 * @param legacyPrefix under which the signature is sent, too
 */
export function checkHeaders(headers: Readonly<Record<string, string>>, legacyPrefix?: string): InputError[] {
  const names = Object.keys(headers);
  const taken: readonly string[] = legacyPrefix === undefined ? [] : signatureHeaderNames(legacyPrefix);
  const errors = Object.entries(headers).flatMap(([name, value]) => {
    const detail = taken.includes(name.toLowerCase())
      ? 'is a header of the signature, by legacy_header_prefix'
      : (objectionToName(name) ?? objectionToValue(value));
    return detail ? [{ pointer: toPointer(['headers', name]), detail }] : [];
  });
  if (taken.some((name) => objectionToName(name)) || legacyPrefix?.startsWith('-'))
    errors.push({
      pointer: '/legacy_header_prefix',
      detail: 'makes names that Hookline or HTTP itself sets; choose another one, such as svix-',
    });
  if (new Set(names.map((name) => name.toLowerCase())).size < names.length)
    errors.push({ pointer: '/headers', detail: 'must not name a header twice; case does not matter' });
  return errors;
}

/** Headers of these names, with their values masked. */
export function maskHeaders(names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, MASKED_VALUE]));
}

/** Finds what is wrong with the name of a header that an owner chooses; `undefined` if nothing is. */
export function objectionToName(name: string): string | undefined {
  if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name) || name.length > MAX_HEADER_NAME_LENGTH)
    return 'is not a valid header name (RFC 9110, section 5.1)';
  const lower = name.toLowerCase();
  if (RESERVED.has(lower) || RESERVED_PREFIXES.some((prefix) => lower.startsWith(prefix)))
    return 'is set by Hookline or by HTTP itself; choose another name, such as x-…';
  return undefined;
}

function objectionToValue(value: string): string | undefined {
  if (value.length > MAX_HEADER_VALUE_LENGTH)
    return `must be at most ${MAX_HEADER_VALUE_LENGTH} characters long`;
  return value === MASKED_VALUE || /^[\x21-\x7e]([\x20-\x7e\t]*[\x21-\x7e])?$/.test(value)
    ? undefined
    : 'must be visible ASCII characters, with spaces only between them';
}
