import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  type Hmac,
  type KeyObject,
} from 'node:crypto';
import { takeRandomBytes } from './random.js';

/** A key as bytes, as text whose UTF-8 is the key, or made beforehand, which saves a little each time. */
export type SymmetricKey = Uint8Array | string | KeyObject;

const CIPHER = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Encrypts with AES-256-GCM and a random 96-bit nonce (NIST SP 800-38D). A key should encrypt fewer than 2^32 texts
 * (section 8.3 there).
 *
 * @param key of 32 bytes
 * @param context authenticated, not encrypted: the text opens with the same context alone
 * @returns nonce, encrypted text and tag, one after the other
 */
export function encrypt(key: SymmetricKey, context: string | Uint8Array, text: string | Uint8Array): Buffer {
  const iv = takeRandomBytes(IV_BYTES);
  const cipher = createCipheriv(CIPHER, keyObjectOf(key), iv).setAAD(Buffer.from(context));
  const encrypted = typeof text === 'string' ? cipher.update(text, 'utf8') : cipher.update(text);
  return Buffer.concat([iv, encrypted, cipher.final(), cipher.getAuthTag()]);
}

/** Decrypts what {@link encrypt} made. @throws Error if it was altered, or the key or the context is another */
export function decrypt(key: SymmetricKey, context: string | Uint8Array, sealed: Uint8Array): Buffer {
  const decipher = createDecipheriv(CIPHER, keyObjectOf(key), sealed.subarray(0, IV_BYTES), {
    authTagLength: TAG_BYTES,
  })
    .setAAD(Buffer.from(context))
    .setAuthTag(sealed.subarray(-TAG_BYTES));
  return Buffer.concat([decipher.update(sealed.subarray(IV_BYTES, -TAG_BYTES)), decipher.final()]);
}

/** An HMAC-SHA256 (RFC 2104), to be updated with the text. */
export function hmac(key: SymmetricKey): Hmac {
  return createHmac('sha256', keyObjectOf(key));
}

/**
 * Given a key in another form, Node.js 24 throws and catches errors to find out which, which takes four times as long
 * as an HMAC.
 */
function keyObjectOf(key: SymmetricKey): KeyObject {
  if (typeof key === 'string') return createSecretKey(key, 'utf8');
  return key instanceof Uint8Array ? createSecretKey(key) : key;
}
