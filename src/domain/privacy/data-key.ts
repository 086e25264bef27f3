import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import { decrypt, encrypt, hmac } from '../basics/symmetric.js';

/** A key that payloads of one account, or of one subject of it, are encrypted with. It is deleted to erase them. */
export interface DataKey {
  /** Random, so that it says nothing about the subject. It stands beside everything that the key has sealed. */
  id: string;
  /** The key, 32 bytes. */
  key: KeyObject;
}

const KEY_BYTES = 32;

/** Random bytes of a data key's id, and the form of one. */
const ID_BYTES = 15;
export const KEY_ID = /^[\w-]{20}$/;

/**
 * How a sealed text begins: encrypted, or plain because the installation does not encrypt payloads. The key's id and a
 * dot follow.
 */
const ENCRYPTED = 'e1.';
const PLAIN = 'p1.';
const PREFIX_LENGTH = 3;

/** A sealed text was altered, or belongs to another event. */
export class SealedTextError extends Error {
  override readonly name = 'SealedTextError';
}

/** A new data key. */
export function newDataKey(): DataKey {
  return {
    id: randomBytes(ID_BYTES).toString('base64url'),
    key: createSecretKey(randomBytes(KEY_BYTES)),
  };
}

/**
 * Encrypts a text: AES-256-GCM (NIST SP 800-38D) with a random 96-bit nonce.
 *
 * @param context what the text belongs to: it opens with the same context alone
 */
export function sealText({ id, key }: DataKey, context: string, text: string): string {
  const sealed = encrypt(key, context, text);
  return `${ENCRYPTED}${id}.${sealed.toString('base64url')}`;
}

/**
 * A text that is kept as it is, with the id of the key that its salt comes from. An empty one only names a key, for
 * `sealBeside`.
 */
export function keepPlain({ id }: Pick<DataKey, 'id'>, text: string): string {
  return `${PLAIN}${id}.${text}`;
}

/** The id of the key that a text was sealed with. @throws SealedTextError */
export function keyIdOf(sealed: string): string {
  const prefix = sealed.slice(0, PREFIX_LENGTH);
  const end = sealed.indexOf('.', PREFIX_LENGTH);
  const id = sealed.slice(PREFIX_LENGTH, end);
  if ((prefix !== ENCRYPTED && prefix !== PLAIN) || end < 0 || !KEY_ID.test(id))
    throw new SealedTextError('not a sealed text');
  return id;
}

/** Text that names the key of a sealed one, and has nothing else of it. */
export function keyNameOf(sealed: string): string {
  return keepPlain({ id: keyIdOf(sealed) }, '');
}

/** Reads what {@link sealText} or {@link keepPlain} made. @throws SealedTextError */
export function openText({ id, key }: DataKey, context: string, sealed: string): string {
  const text = sealed.slice(PREFIX_LENGTH + id.length + 1);
  if (sealed.startsWith(PLAIN)) return text;
  const bytes = Buffer.from(text, 'base64url');
  try {
    return decrypt(key, context, bytes).toString('utf8');
  } catch {
    throw new SealedTextError(`a text sealed with the data key ${id} does not open: it was altered or moved`);
  }
}

/**
 * The salt of what is published about an event instead of its payload: HKDF (RFC 5869, SHA-256) of the data key.
 * Without the key it cannot be found out, and so nobody can test a guess of the payload.
 *
 * @param purpose keeps salts for different uses apart
 */
export function saltOf({ key }: DataKey, context: string, purpose: string): Buffer {
  // Extract, and expand to one block. Node's `hkdfSync` gives the same and takes at least twice as long.
  const extracted = hmac(context).update(key.export()).digest();
  return hmac(extracted).update(`hookline/${purpose}\x01`).digest();
}

/** A commitment to a payload: HMAC-SHA256 (RFC 2104) with the event's salt, hexadecimal. */
export function commitTo(salt: Buffer, payload: string | Buffer): string {
  return hmac(salt).update(payload).digest('hex');
}
