import { createPrivateKey, generateKeyPairSync, randomBytes, sign as signAsymmetrically } from 'node:crypto';
import { hmac } from '../basics/symmetric.js';
import { signatureHeaderNames } from '../endpoint/endpoint-headers.js';
import { type LegacySignature, legacyHeaders, type SignedRequest } from '../sending/legacy-signature.js';

/**
 * How deliveries are signed: `v1` with a shared secret (HMAC-SHA256), `v1a` with a key pair (ed25519) whose public half
 * verifies.
 */
export const SIGNATURE_SCHEMES = ['v1', 'v1a'] as const;

export type SignatureScheme = (typeof SIGNATURE_SCHEMES)[number];

/** A key that an endpoint's deliveries are signed with. */
export interface SigningKey {
  /** `whsec_…` for `v1`, `whsk_…` for `v1a` (Standard Webhooks specification, "Signature scheme"). */
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

/** A way to sign. The beginning of a secret tells which one it is for. */
interface Scheme {
  prefix: string;
  newSecret(): string;
  /** Part of a secret by which a subscriber verifies: the shared secret, or the public half of a key pair. */
  verificationKey(secret: string): { secret: string } | { public_key: string };
  /** The signature in base64. @param head signed before the body */
  sign(secret: string, head: string, body: string): string;
}

const SCHEMES: Record<SignatureScheme, Scheme> = {
  v1: {
    prefix: SHARED_PREFIX,
    newSecret: () => toSharedSecret(randomBytes(32)),
    verificationKey: (secret) => ({ secret }),
    sign(secret, head, body) {
      const key = Buffer.from(secret.slice(SHARED_PREFIX.length), 'base64');
      return hmac(key).update(head).update(body).digest('base64');
    },
  },
  v1a: {
    prefix: PRIVATE_PREFIX,
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
  },
};

/**
 * A new signing secret: `whsec_` and 32 random bytes in base64; or `whsk_` and an ed25519 key, private half and public
 * half.
 */
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
 * The value of `webhook-signature`: for each live secret a signature of `id.timestamp.body`, separated by spaces: `v1,`
 * and the base64 HMAC-SHA256, or `v1a,` and the base64 ed25519 signature (Standard Webhooks specification, "Verifying
 * signatures"; several while a rotation overlaps).
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
