import { createSecureContext } from 'node:tls';
import { z } from 'zod';
import { toPointer } from '../../../../packages/payload-contract/src/index.js';
import { parseDuration } from '../../../domain/basics/duration.js';
import { MASKED_VALUE, objectionToName } from '../../../domain/endpoint/endpoint-headers.js';
import type { InputError } from '../../../domain/http/problem.js';
import {
  BEARER_TOKEN,
  CLIENT_AUTH_METHODS,
  DELIVERY_LIMITS,
  type DeliveryOptions,
  maskedIn,
  unmaskOptions,
} from '../../../domain/sending/delivery-options.js';
import { LEGACY_HMACS, objectionToTemplate } from '../../../domain/sending/legacy-signature.js';
import { PAYLOAD_FORMATS } from '../../../domain/sending/payload-format.js';
import type { EndpointWithSecrets } from '../../../models/endpoint/endpoint-document.js';

const { attemptTimeoutMs, concurrency, secretLength, pemLength } = DELIVERY_LIMITS;

const secret = z
  .string()
  .min(1)
  .max(secretLength)
  .describe('Encrypted, and shown masked; the mask keeps the stored one when sent back');

const visible = z
  .string()
  .min(1)
  .max(1_024)
  .regex(/^[\x20-\x7e]+$/, 'must be visible ASCII characters');

const authentication = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('bearer'),
    token: secret.refine(
      (text) => text === MASKED_VALUE || BEARER_TOKEN.test(text),
      'must be a token as RFC 6750, section 2.1, has it: letters, digits and ._~+/-, then = if needed',
    ),
  }),
  z.strictObject({
    type: z.literal('oauth2').describe('Client credentials (RFC 6749, section 4.4)'),
    token_url: z.string().describe('Reached by the same rules as target URLs'),
    client_id: visible,
    client_secret: secret,
    client_auth: z.enum(CLIENT_AUTH_METHODS).default('client_secret_basic'),
    scope: visible.optional(),
    audience: visible.optional(),
  }),
]);

function template(name: 'value' | 'signed') {
  return visible.superRefine((text, context) => {
    const message = objectionToTemplate(name, text);
    if (message !== undefined) context.addIssue({ code: 'custom', message });
  });
}

/** Settings of an endpoint that say how its deliveries are sent. */
export const deliveryOptionFields = {
  attempt_timeout: z
    .string()
    .refine(isAttemptTimeout, 'must be a duration from 1s to 30s, such as 10s')
    .optional()
    .describe("Time for one attempt, from 1s to 30s; absent: the installation's"),
  max_concurrency: z
    .int()
    .min(concurrency.least)
    .max(concurrency.most)
    .optional()
    .describe('Attempts in flight at once, at most, in all processes; 1: never two at once'),
  authentication: authentication.optional().describe('How deliveries authenticate at the receiver'),
  client_certificate: z
    .strictObject({
      certificate: z.string().max(pemLength).describe('PEM; those of authorities between may follow it'),
      private_key: z
        .string()
        .max(pemLength)
        .describe('PEM. Encrypted, and shown masked; the mask keeps the stored one when sent back'),
    })
    .optional()
    .describe('Shown to the receiver if it asks for a certificate (mutual TLS)'),
  legacy_signature: z
    .strictObject({
      header: visible.describe('Name of the header'),
      value: template('value')
        .default('{signature}')
        .describe('Its value, such as sha256={signature}; it may name {id}, {timestamp} and {kind}'),
      signed: template('signed')
        .default('{body}')
        .describe('The text that is signed, such as {timestamp}.{body}; it may name {id} and {kind}'),
      hmac: z.enum(LEGACY_HMACS).default('sha256'),
      encoding: z.enum(['hex', 'base64']).default('hex'),
      timestamp_header: visible.optional().describe('A header with the time of the attempt, unix seconds'),
      secret,
    })
    .optional()
    .describe('A signature of another service, sent beside that of Standard Webhooks'),
  payload_format: z
    .enum(PAYLOAD_FORMATS)
    .optional()
    .describe(
      'event: the payload as it was posted; thin: id, kind and address of the event; cloudevents_…: CloudEvents 1.0',
    ),
  include_values: z
    .boolean()
    .optional()
    .describe('Whether events of profile.updated have the old and new values, besides the names of fields'),
};

/** The same as they are shown: secrets are masked. */
export const shownDeliveryOptions = deliveryOptionFields;

function isAttemptTimeout(text: string): boolean {
  try {
    const ms = parseDuration(text);
    return ms >= attemptTimeoutMs.least && ms <= attemptTimeoutMs.most;
  } catch {
    return false;
  }
}

/**
 * Checks of delivery options what their schema cannot.
 *
 * @param before the endpoint as it is, with the secrets that masks stand for; absent at registration
 * @param objectionTo says what is wrong with a URL
 */
export function checkDeliveryOptions(
  options: DeliveryOptions & { headers: object },
  before: EndpointWithSecrets | undefined,
  objectionTo: (url: string) => string | undefined,
): InputError[] {
  const stored = before?.secrets.options ?? {};
  const { authentication: by, legacy_signature: legacy } = options;
  const masked = maskedIn(options)
    .filter((pointer) => stored[pointer] === undefined)
    .map((pointer) => ({
      pointer,
      detail: 'is masked, but no value is stored for it; send the value itself',
    }));
  const named = (['header', 'timestamp_header'] as const).flatMap((member) => {
    const detail = legacy?.[member] === undefined ? undefined : objectionToName(legacy[member]);
    return detail === undefined ? [] : [{ pointer: toPointer(['legacy_signature', member]), detail }];
  });
  const taken = [by && 'authorization', legacy?.header, legacy?.timestamp_header].map((name) =>
    name?.toLowerCase(),
  );
  const isTaken = (name: string) =>
    taken.includes(name) || (options.payload_format === 'cloudevents_binary' && name.startsWith('ce-'));
  const twice = Object.keys(options.headers)
    .filter((name) => isTaken(name.toLowerCase()))
    .map((name) => ({
      pointer: toPointer(['headers', name]),
      detail: 'is set by authentication, legacy_signature or payload_format; leave one of the two out',
    }));
  const certificate = masked.length > 0 ? [] : checkCertificate(unmaskOptions(options, stored));
  return [...masked, ...named, ...twice, ...certificate, ...checkTokenUrl(options, before, objectionTo)];
}

/** A certificate must be readable, and its key be the one that it is for. */
function checkCertificate({ client_certificate: pair }: DeliveryOptions): InputError[] {
  if (!pair) return [];
  try {
    const { certificate: cert, private_key: key } = pair;
    createSecureContext({ cert, key });
    return [];
  } catch {
    const detail =
      'must be a certificate and its own private key, both as PEM, and the key without a passphrase';
    return [{ pointer: '/client_certificate', detail }];
  }
}

function checkTokenUrl(
  { authentication: after }: DeliveryOptions,
  before: EndpointWithSecrets | undefined,
  objectionTo: (url: string) => string | undefined,
): InputError[] {
  if (after?.type !== 'oauth2') return [];
  const detail = objectionTo(after.token_url);
  if (detail !== undefined) return [{ pointer: '/authentication/token_url', detail }];
  const known = before?.authentication;
  const hasMoved = known?.type === 'oauth2' && known.token_url !== after.token_url;
  // A caller who may change the endpoint must not get a secret that they cannot read, by having it sent to their own
  // server.
  return hasMoved && after.client_secret === MASKED_VALUE
    ? [
        {
          pointer: '/authentication/client_secret',
          detail: 'must be sent again, because token_url is another',
        },
      ]
    : [];
}
