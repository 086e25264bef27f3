import { toPointer } from '../../../packages/payload-contract/src/index.js';
import type { LegacySignature } from './legacy-signature.js';
import type { PayloadFormat } from './payload-format.js';

/** Shown in place of a secret value. Sent back, it keeps the stored value. */
export const MASKED_VALUE = '••••••';

/** The least and the most that an endpoint's own limits may be. */
export const DELIVERY_LIMITS = {
  /** Milliseconds. */
  attemptTimeoutMs: { least: 1_000, most: 30_000 },
  concurrency: { least: 1, most: 64 },
  /** Characters of a token or another secret. */
  secretLength: 4_096,
  /** Characters of certificates, or of a private key, as PEM. */
  pemLength: 16_384,
} as const;

/** Authentication of deliveries at the receiver, besides their signature. */
export type Authentication = StaticBearer | ClientCredentials;

/** A token that the receiver has given out. */
interface StaticBearer {
  type: 'bearer';
  /** Sent as `Authorization: Bearer …` (RFC 6750). Secret. */
  token: string;
}

/** A client of an OAuth 2.0 server, whose access tokens are sent as bearer tokens (RFC 6749, section 4.4). */
export interface ClientCredentials {
  type: 'oauth2';
  token_url: string;
  client_id: string;
  /** Secret. */
  client_secret: string;
  client_auth: ClientAuth;
  scope?: string;
  audience?: string;
}

/** A certificate and its key, as PEM. */
export interface ClientCertificate {
  /** The certificates of the authorities between may follow it. */
  certificate: string;
  /** Secret. */
  private_key: string;
}

/** Ways in which a client proves itself at its token URL (RFC 6749, section 2.3.1). */
export const CLIENT_AUTH_METHODS = ['client_secret_basic', 'client_secret_post'] as const;
type ClientAuth = (typeof CLIENT_AUTH_METHODS)[number];

/** A token as a header can have it (RFC 6750, section 2.1). */
export const BEARER_TOKEN = /^[A-Za-z0-9._~+/-]+=*$/;

/**
 * How deliveries are sent to an endpoint, where that differs from the defaults. This is what is stored and shown, with
 * {@link MASKED_VALUE} in place of each secret.
 */
export interface DeliveryOptions {
  /** Time for one attempt, such as `10s`; absent: the installation's. */
  attempt_timeout?: string;
  /** Attempts in flight at once, in all processes together; absent: as many as the endpoint answers well. */
  max_concurrency?: number;
  authentication?: Authentication;
  /** Shown to the receiver when it asks for a certificate (mutual TLS). */
  client_certificate?: ClientCertificate;
  /** Sent beside the signature of Standard Webhooks. */
  legacy_signature?: LegacySignature;
  /** Absent: `event`. */
  payload_format?: PayloadFormat;
  /** Old and new values in events of `profile.updated`; absent: names of fields alone. */
  include_values?: boolean;
}

/** Secret values of {@link DeliveryOptions}, by JSON Pointer. */
export type DeliverySecrets = Readonly<Record<string, string>>;

const NAMES: Record<keyof DeliveryOptions, true> = {
  attempt_timeout: true,
  max_concurrency: true,
  authentication: true,
  client_certificate: true,
  legacy_signature: true,
  payload_format: true,
  include_values: true,
};
const OPTION_NAMES = new Set(Object.keys(NAMES));

/** Members of an option whose values are secret. */
const SECRET_MEMBERS = new Set(['token', 'client_secret', 'secret', 'private_key']);

/** The options among the settings of an endpoint, and the other settings. */
export function splitOptions<T extends DeliveryOptions>(
  settings: T,
): { options: DeliveryOptions; rest: Omit<T, keyof DeliveryOptions> } {
  const isOption = ([name]: [string, unknown]) => OPTION_NAMES.has(name);
  const entries = Object.entries(settings).filter(([, value]) => value !== undefined);
  return {
    options: Object.fromEntries(entries.filter(isOption)) as DeliveryOptions,
    rest: Object.fromEntries(entries.filter((entry) => !isOption(entry))) as Omit<T, keyof DeliveryOptions>,
  };
}

/** Options as they may be shown, and the secrets that are masked in them. */
export function maskOptions(options: DeliveryOptions): { shown: DeliveryOptions; secrets: DeliverySecrets } {
  const secrets: Record<string, string> = {};
  const shown = mapSecrets(options, (pointer, value) => {
    secrets[pointer] = value;
    return MASKED_VALUE;
  });
  return { shown, secrets };
}

/** Options with secrets in place of the masks. @param secrets one that is missing stays masked */
export function unmaskOptions<T extends DeliveryOptions>(options: T, secrets: DeliverySecrets): T {
  const unmask = (pointer: string, value: string) =>
    value === MASKED_VALUE ? (secrets[pointer] ?? value) : value;
  return { ...options, ...mapSecrets(splitOptions(options).options, unmask) };
}

/** Where options have a mask in place of a secret. JSON Pointers. */
export function maskedIn(options: DeliveryOptions): string[] {
  const { secrets } = maskOptions(splitOptions(options).options);
  return Object.keys(secrets).filter((pointer) => secrets[pointer] === MASKED_VALUE);
}

function mapSecrets(
  options: DeliveryOptions,
  map: (pointer: string, value: string) => string,
): DeliveryOptions {
  const entries = Object.entries(options).map(([name, option]: [string, unknown]) => {
    if (typeof option !== 'object' || option === null) return [name, option];
    const members = Object.entries(option).map(([member, value]: [string, unknown]) => {
      const isSecret = SECRET_MEMBERS.has(member) && typeof value === 'string';
      return [member, isSecret ? map(toPointer([name, member]), value) : value];
    });
    return [name, Object.fromEntries(members)];
  });
  return Object.fromEntries(entries) as DeliveryOptions;
}
