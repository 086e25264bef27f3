import { randomBytes, timingSafeEqual } from 'node:crypto';
import { decrypt, encrypt, hmac } from '../basics/symmetric.js';

/** A key that stored secrets are encrypted with. */
export interface SecretKey {
  /** Stands beside everything the key has sealed, so that it is found again after a rotation. */
  id: string;
  /** 32 bytes. */
  key: Buffer;
}

const KEY_BYTES = 32;

/** A stored secret cannot be read: its key is not among the configured ones, or it has been altered. */
export class SealError extends Error {
  override readonly name = 'SealError';
}

/**
 * Encrypts secrets that must be used later, such as signing secrets, before they are stored: AES-256-GCM (NIST SP
 * 800-38D) with a random 96-bit nonce, and the place where the secret belongs as authenticated data, so that a sealed
 * text moved elsewhere does not open.
 */
export class SecretBox {
  private readonly keys: readonly [SecretKey, ...SecretKey[]];
  /** Keys of tags, by key and purpose: a list compares a tag for each of its rows. */
  private readonly tagKeys = new Map<string, Buffer>();

  /** @param keys the first one seals; all of them open */
  constructor(keys: readonly [SecretKey, ...SecretKey[]]) {
    this.keys = keys;
  }

  /** @param place what the secret belongs to, such as an endpoint's id and the name of the field */
  seal(text: string, place: string): string {
    const [{ id, key }] = this.keys;
    const sealed = encrypt(key, `${id}:${place}`, text);
    return `${id}:${sealed.toString('base64url')}`;
  }

  /** @throws SealError */
  open(sealed: string, place: string): string {
    const { id, key } = this.keyOf(sealed);
    const bytes = Buffer.from(sealed.slice(id.length + 1), 'base64url');
    try {
      return decrypt(key, `${id}:${place}`, bytes).toString('utf8');
    } catch {
      throw new SealError(
        `a secret sealed with the key "${id}" does not open: it was altered, or the key is another`,
      );
    }
  }

  /**
   * A tag that shows later that this installation wrote a text: HMAC-SHA256 (RFC 2104) under a key that the newest key
   * gives for this purpose alone.
   *
   * @param purpose what the text is, so that a tag of one kind of text is none of another
   */
  tag(text: string, purpose: string): string {
    const [key] = this.keys;
    return `${key.id}:${this.tagOf(key, text, purpose).toString('hex')}`;
  }

  /** Whether {@link tag} made a tag of a text, with whichever of the keys. @throws SealError if its key is not known */
  isTagged(tag: string, text: string, purpose: string): boolean {
    const key = this.keyOf(tag);
    const given = Buffer.from(tag.slice(key.id.length + 1), 'hex');
    const right = this.tagOf(key, text, purpose);
    return given.length === right.length && timingSafeEqual(given, right);
  }

  private tagOf({ id, key }: SecretKey, text: string, purpose: string): Buffer {
    const name = `${id} ${purpose}`;
    const tagKey = this.tagKeys.get(name) ?? hmac(key).update(`hookline/tag/${purpose}`).digest();
    this.tagKeys.set(name, tagKey);
    return hmac(tagKey).update(text).digest();
  }

  /** Whether a sealed text, or a tag, is one of an older key than the first. */
  isOutdated(sealed: string): boolean {
    return !sealed.startsWith(`${this.keys[0].id}:`);
  }

  private keyOf(sealed: string): SecretKey {
    const id = sealed.slice(0, sealed.indexOf(':'));
    const key = this.keys.find((known) => known.id === id);
    if (!key)
      throw new SealError(
        id.startsWith(WRAPPING_PREFIX)
          ? `a stored key needs "${id.slice(WRAPPING_PREFIX.length)}", which HOOKLINE_WRAPPING_KEYS does not hold`
          : id.startsWith(PAYLOAD_PREFIX)
            ? `a stored key needs "${id.slice(PAYLOAD_PREFIX.length)}", which HOOKLINE_PAYLOAD_KEYS does not hold`
            : `a stored secret needs the key "${id}", which HOOKLINE_SECRET_KEYS does not hold`,
      );
    return key;
  }
}

/** Before the ids of payload keys and of wrapping keys, where they stand beside secret keys. */
const PAYLOAD_PREFIX = 'payload.';
const WRAPPING_PREFIX = 'wrapping.';

/**
 * Box that wraps data keys: with the newest wrapping key; without any with the newest payload key, or the newest secret
 * key if payloads are not encrypted. It opens what any of them wrapped, so that encryption can be turned on later, and
 * keys that wrap nothing else be used from then on.
 */
export function dataKeyBox(
  payloadKeys: readonly SecretKey[] | undefined,
  secretKeys: readonly [SecretKey, ...SecretKey[]],
  wrappingKeys: readonly SecretKey[] = [],
): SecretBox {
  const named = (prefix: string, keys: readonly SecretKey[] = []) =>
    keys.map(({ id, key }) => ({ id: prefix + id, key }));
  const [first, ...rest] = [
    ...named(WRAPPING_PREFIX, wrappingKeys),
    ...named(PAYLOAD_PREFIX, payloadKeys),
    ...secretKeys,
  ];
  return new SecretBox([first ?? secretKeys[0], ...rest]);
}

/**
 * Reads keys: `id:base64` of 32 bytes, separated by commas, the newest first.
 *
 * @throws RangeError that says what is wrong, and repeats no key
 */
export function parseSecretKeys(text: string): [SecretKey, ...SecretKey[]] {
  const keys = text.split(',').map((part, index): SecretKey => {
    const match = /^([\w-]{1,32}):([A-Za-z0-9+/_-]+={0,2})$/.exec(part.trim());
    const key = Buffer.from(match?.[2] ?? '', 'base64');
    if (!match?.[1] || key.length !== KEY_BYTES) {
      throw new RangeError(
        `key ${index + 1} must read id:key, the key being 32 random bytes in base64; "hookline secret-key" makes one`,
      );
    }
    return { id: match[1], key };
  });
  const [first, ...rest] = keys;
  if (!first) throw new RangeError('must hold at least one key');
  if (new Set(keys.map(({ id }) => id)).size < keys.length) throw new RangeError('must not use an id twice');
  return [first, ...rest];
}

/** A new key, as {@link parseSecretKeys} reads it. */
export function newSecretKey(): string {
  return `k${randomBytes(4).toString('hex')}:${randomBytes(KEY_BYTES).toString('base64')}`;
}
