import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  randomBytes,
  sign as signAsymmetrically,
  verify as verifyAsymmetrically,
} from 'node:crypto';
import { UNITS } from '../basics/duration.js';
import { hmac } from '../basics/symmetric.js';
import { signatureHeaderNames } from '../endpoint/endpoint-headers.js';
import { type LegacySignature, legacyHeaders, type SignedRequest } from '../sending/legacy-signature.js';

/** How deliveries are signed: {@link SCHEMES} has all that there is to know of each. */
export const SIGNATURE_SCHEMES = ['v1', 'v1a'] as const;

export type SignatureScheme = (typeof SIGNATURE_SCHEMES)[number];

/** A key that an endpoint's deliveries are signed with. */
export interface SigningKey {
  /** Its beginning tells the scheme (Standard Webhooks specification, "Signature scheme"). */
  secret: string;
  created_at: string;
  /** The end of a rotation's overlap, when it stops signing. Absent on the newest key. */
  expires_at?: string;
  /** The version of the endpoint that made it. */
  version?: number;
}

const SHARED_PREFIX = 'whsec_';
const PRIVATE_PREFIX = 'whsk_';
const PUBLIC_PREFIX = 'whpk_';
const ED25519_KEY_BYTES = 32;
/** Length of a shared secret that an owner supplies, bytes (Standard Webhooks specification, "Signature scheme"). */
export const SHARED_SECRET_BYTES = { least: 24, most: 64 } as const;

/** A way to sign. Its texts are public: the API shows them. */
interface Scheme {
  means: string;
  algorithm: string;
  /** Beginning of a secret. */
  prefix: string;
  /** Field that has the part by which a subscriber verifies, and the beginning of that. */
  shown: { secret: string; public_key?: never } | { public_key: string; secret?: never };
  newSecret(): string;
  /** Part of a secret by which a subscriber verifies: the shared secret, or the public half of a key pair. */
  verificationKey(secret: string): { secret: string } | { public_key: string };
  /** The signature in base64. @param head signed before the body */
  sign(secret: string, head: string, body: string): string;
  /** Whether a signature is genuine. It checks requests of our own alone, so its time need not be constant. */
  verify(secret: string, head: string, body: string, signature: string): boolean;
}

export const SCHEMES: Readonly<Record<SignatureScheme, Scheme>> = {
  v1: {
    means: 'a shared secret',
    algorithm: 'HMAC-SHA256',
    prefix: SHARED_PREFIX,
    shown: { secret: SHARED_PREFIX },
    newSecret: () => toSharedSecret(randomBytes(32)),
    verificationKey: (secret) => ({ secret }),
    sign(secret, head, body) {
      const key = Buffer.from(secret.slice(SHARED_PREFIX.length), 'base64');
      return hmac(key).update(head).update(body).digest('base64');
    },
    verify: (secret, head, body, signature) => SCHEMES.v1.sign(secret, head, body) === signature,
  },
  v1a: {
    means: 'an ed25519 key pair',
    algorithm: 'ed25519',
    prefix: PRIVATE_PREFIX,
    shown: { public_key: PUBLIC_PREFIX },
    newSecret() {
      const { d = '', x = '' } = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });
      const halves = [d, x].map((half) => Buffer.from(half, 'base64url'));
      return PRIVATE_PREFIX + Buffer.concat(halves).toString('base64');
    },
    verificationKey: (secret) => ({ public_key: PUBLIC_PREFIX + halvesOf(secret)[1].toString('base64') }),
    sign(secret, head, body) {
      const [d = '', x = ''] = halvesOf(secret).map((half) => half.toString('base64url'));
      const key = createPrivateKey({ format: 'jwk', key: { kty: 'OKP', crv: 'Ed25519', d, x } });
      return signAsymmetrically(null, Buffer.from(head + body), key).toString('base64');
    },
    verify(secret, head, body, signature) {
      const x = halvesOf(secret)[1].toString('base64url');
      const key = createPublicKey({ format: 'jwk', key: { kty: 'OKP', crv: 'Ed25519', x } });
      return verifyAsymmetrically(null, Buffer.from(head + body), key, Buffer.from(signature, 'base64'));
    },
  },
};

export function newSigningSecret(scheme: SignatureScheme = 'v1'): string {
  return SCHEMES[scheme].newSecret();
}

/** Whether a text is a shared secret as the libraries of Standard Webhooks take it: `whsec_` and 24 to 64 bytes. */
export function isSharedSecret(text: string): boolean {
  const base64 = text.slice(SHARED_PREFIX.length);
  if (!text.startsWith(SHARED_PREFIX) || !/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) return false;
  const { length } = Buffer.from(base64, 'base64');
  return length >= SHARED_SECRET_BYTES.least && length <= SHARED_SECRET_BYTES.most;
}

/** A key of bytes as a shared secret in that form. */
export function toSharedSecret(key: Buffer): string {
  return SHARED_PREFIX + key.toString('base64');
}

export function schemeOf(secret: string): SignatureScheme {
  return SIGNATURE_SCHEMES.find((scheme) => secret.startsWith(SCHEMES[scheme].prefix)) ?? 'v1';
}

/** Part of a secret by which a subscriber verifies: the shared secret, or the public half of a key pair. */
export function verificationKey(secret: string): { secret: string } | { public_key: string } {
  return SCHEMES[schemeOf(secret)].verificationKey(secret);
}

/** The private half of a key pair, and the public one. */
function halvesOf(secret: string): [Buffer, Buffer] {
  const halves = Buffer.from(secret.slice(PRIVATE_PREFIX.length), 'base64');
  return [halves.subarray(0, ED25519_KEY_BYTES), halves.subarray(ED25519_KEY_BYTES)];
}

/** The keys that sign at a moment, newest first. @param at milliseconds since the epoch */
export function liveKeys(keys: readonly SigningKey[], at: number): SigningKey[] {
  return keys.filter(({ expires_at }) => expires_at === undefined || Date.parse(expires_at) > at);
}

/** Begins the names of the headers by which a subscriber verifies a request (Standard Webhooks specification). */
const HEADER_PREFIX = 'webhook-';

/** Signatures for receivers of another service, besides that of Standard Webhooks. */
export interface LegacyScheme {
  /** The same headers are sent under this prefix, too, such as `svix-`. */
  legacy_header_prefix?: string;
  legacy_signature?: LegacySignature;
}

/** The headers by which a subscriber verifies a request: of the one that {@link sign} signs. */
export function signedHeaders(
  secrets: readonly string[],
  request: SignedRequest,
  { legacy_header_prefix, legacy_signature }: LegacyScheme = {},
): Record<string, string> {
  const { id, timestamp, body } = request;
  const values = [id, String(timestamp), sign(secrets, id, timestamp, body)];
  const prefixes = [HEADER_PREFIX, ...(legacy_header_prefix === undefined ? [] : [legacy_header_prefix])];
  const headers = prefixes.flatMap((prefix) =>
    signatureHeaderNames(prefix).map((name, at) => [name, values[at] ?? '']),
  );
  return {
    ...(legacy_signature && legacyHeaders(legacy_signature, request)),
    ...Object.fromEntries(headers),
  };
}

/**
 * The value of `webhook-signature`: for each live secret its scheme, a comma, and a signature of `id.timestamp.body` in
 * base64, separated by spaces (Standard Webhooks specification, "Verifying signatures"; several while a rotation
 * overlaps).
 *
 * @param secrets newest first
 * @param id the `webhook-id`
 * @param timestamp the `webhook-timestamp`, unix seconds
 * @param body exactly what is sent
 */
export function sign(secrets: readonly string[], id: string, timestamp: number, body: string): string {
  const head = `${id}.${timestamp}.`;
  return secrets
    .map((secret) => {
      const scheme = schemeOf(secret);
      return `${scheme},${SCHEMES[scheme].sign(secret, head, body)}`;
    })
    .join(' ');
}

/** How far `webhook-timestamp` may be from the time of a check, as the libraries of Standard Webhooks have it. */
const TOLERANCE_SECONDS = (5 * UNITS.m) / 1_000;

/**
 * Why a library of Standard Webhooks refuses a request by all of the secrets, in its words; `undefined` if one verifies
 * it.
 *
 * @param at milliseconds since the epoch
 */
export function objectionToSignature(
  secrets: readonly string[],
  headers: Readonly<Record<string, string>>,
  body: string,
  at: number,
): string | undefined {
  const [id, timestamp, signatures] = signatureHeaderNames(HEADER_PREFIX).map((name) => headers[name]);
  if (!id || !timestamp || !signatures) return 'Missing required headers';
  const age = Math.floor(at / 1_000) - Number(timestamp);
  if (Number.isNaN(age)) return 'Invalid Signature Headers';
  if (Math.abs(age) > TOLERANCE_SECONDS) return `Message timestamp too ${age > 0 ? 'old' : 'new'}`;
  const given = signatures.split(' ').map((one) => one.split(','));
  const isGenuine = secrets.some((secret) => {
    const scheme = schemeOf(secret);
    return given.some(
      ([name, signature = '']) =>
        name === scheme && SCHEMES[scheme].verify(secret, `${id}.${timestamp}.`, body, signature),
    );
  });
  return isGenuine ? undefined : 'No matching signature found';
}
