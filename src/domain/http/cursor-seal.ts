import { timingSafeEqual } from 'node:crypto';
import { hmac } from '../basics/symmetric.js';

/** Characters of a seal: 128 bits. */
const SEAL_LENGTH = 22;

/**
 * A cursor as callers get it, with a seal: only what Hookline has given comes back.
 *
 * @param secret of the installation
 * @param list what it is a cursor of: the list, and whose it is
 */
export function sealCursor(secret: string, list: string, cursor: string): string {
  return sealOf(secret, list, cursor) + cursor;
}

/** The inverse of {@link sealCursor}; `undefined` if the cursor was not given for that list. */
export function openCursor(secret: string, list: string, text: string): string | undefined {
  const cursor = text.slice(SEAL_LENGTH);
  const [given, right] = [text.slice(0, SEAL_LENGTH), sealOf(secret, list, cursor)].map((seal) =>
    Buffer.from(seal),
  );
  return given && right && given.length === right.length && timingSafeEqual(given, right)
    ? cursor
    : undefined;
}

function sealOf(secret: string, list: string, cursor: string): string {
  return hmac(secret).update(`${list}\n${cursor}`).digest('base64url').slice(0, SEAL_LENGTH);
}
