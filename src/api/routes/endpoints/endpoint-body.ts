import { z } from 'zod';
import { toPointer } from '../../../../packages/payload-contract/src/json-pointer.js';
import {
  isSharedSecret,
  SCHEMES,
  SHARED_SECRET_BYTES,
  SIGNATURE_SCHEMES,
  schemeOf,
} from '../../../domain/delivery/signature.js';
import {
  checkEventKinds,
  checkTargetUrl,
  MAX_METADATA,
  MAX_RATE_LIMIT,
  VERIFICATION_METHODS,
} from '../../../domain/endpoint/endpoint.js';
import {
  checkHeaders,
  MASKED_VALUE,
  MAX_HEADERS,
  MAX_PREFIX_LENGTH,
} from '../../../domain/endpoint/endpoint-headers.js';
import { filterSchema } from '../../../domain/endpoint/filter-schema.js';
import { isRetryWait, MAX_WAITS } from '../../../domain/endpoint/retry-schedule.js';
import { ORDER_SKIPS, ORDERINGS } from '../../../domain/event/ordering.js';
import { type InputError, Problem } from '../../../domain/http/problem.js';
import { unmaskOptions } from '../../../domain/sending/delivery-options.js';
import type { EndpointInput, EndpointWithSecrets } from '../../../models/endpoint/endpoint-document.js';
import { recordOf } from '../../http/bounds/find-excess.js';
import type { ApiDependencies } from '../../http/context.js';
import { invalidRequest } from '../../http/validation.js';
import { checkDeliveryOptions, deliveryOptionFields } from './delivery-options.js';

const { least, most } = SHARED_SECRET_BYTES;
const schemeTexts = Object.entries(SCHEMES).map(([name, { means }]) => `${name}: ${means}`);

/** Request body of an endpoint's owner. */
export const endpointBody = z.strictObject({
  target_url: z.string(),
  event_kinds: z.array(z.string()).min(1, 'must name at least one event kind, or * for all').max(100),
  filter: filterSchema.optional().describe('A condition on the payload: docs/endpoints.md'),
  description: z.string().max(1_000).default(''),
  metadata: recordOf(
    z.string().min(1).max(MAX_METADATA.name),
    z.string().max(MAX_METADATA.value),
    MAX_METADATA.entries,
  )
    .default({})
    .describe("The owner's own notes"),
  headers: recordOf(z.string(), z.string(), MAX_HEADERS)
    .default({})
    .describe(
      `Sent along with each delivery; values are shown as ${MASKED_VALUE}, which keeps the stored one when sent back`,
    ),
  legacy_header_prefix: z
    .string()
    .max(MAX_PREFIX_LENGTH)
    .regex(/^[a-z0-9-]+$/, 'must have small letters, digits and hyphens only, such as svix-')
    .optional()
    .describe(
      'The signature is sent as <prefix>id, <prefix>timestamp and <prefix>signature, too: svix- for receivers of Svix',
    ),
  rate_limit: z
    .number()
    .min(0.01)
    .max(MAX_RATE_LIMIT)
    .optional()
    .describe('Deliveries per second, at most; deliveries beyond it wait, none is dropped'),
  ordering: z
    .enum(ORDERINGS)
    .optional()
    .describe(
      'Which deliveries wait until those in front of them are delivered: of events with the same order key, or all; none if absent',
    ),
  order_skip: z
    .enum(ORDER_SKIPS)
    .optional()
    .describe(
      'Whether a delivery that has ended without success lets those behind it go on: exhausted; never if absent',
    ),
  order_skip_after: z
    .string()
    .refine(isRetryWait, 'must be a duration from 100ms to 7d, such as 10m or 2h')
    .optional()
    .describe('A delivery holds up those behind it for at most so long; absent: for any time'),
  status: z.enum(['active', 'paused']).default('active'),
  status_reason: z.string().min(1).max(300).optional().describe('Why it is paused'),
  verification_method: z.enum(VERIFICATION_METHODS).default('challenge'),
  verify_token: z
    .string()
    .min(1)
    .max(256)
    .optional()
    .describe('Sent as hub.verify_token by the verification method graph'),
  retry_schedule: z
    .array(z.string().refine(isRetryWait, 'must be a duration from 100ms to 7d, such as 5s, 30m or 2h'))
    .max(MAX_WAITS, `must have at most ${MAX_WAITS} waits`)
    .optional(),
  ...deliveryOptionFields,
});

/** The same, with what can only be chosen at registration. */
export const newEndpointBody = endpointBody
  .extend({
    signature_scheme: z
      .enum(SIGNATURE_SCHEMES)
      .default('v1')
      .describe(`${schemeTexts.join('; ')}. A rotation can change it`),
    secret: z
      .string()
      .refine(
        isSharedSecret,
        `must be whsec_ and ${least} to ${most} bytes in base64; leave it out for a new one`,
      )
      .optional()
      .describe('An existing shared secret of the subscriber, from another service; absent: a new one'),
  })
  .refine(({ signature_scheme, secret }) => secret === undefined || signature_scheme === schemeOf(secret), {
    path: ['secret'],
    message: 'belongs to another signature_scheme; leave it out, and a new key is made',
  });

/**
 * Checks what the schema of the body cannot, and decides which status follows.
 *
 * @param knownKinds names of the account's own event kinds
 * @param before the endpoint as it is; absent at registration
 * @throws Problem 400 with an error for every field that is wrong
 */
export function checkEndpoint(
  { settings, addressPolicy }: ApiDependencies,
  body: z.output<typeof endpointBody>,
  knownKinds: readonly string[],
  before?: EndpointWithSecrets,
): EndpointInput {
  // A listener stays one: what is sent to it must not go anywhere else.
  const isKept = before?.listener && body.target_url === before.target_url;
  const mistake = before?.listener
    ? { insecure: false, detail: 'cannot be changed: this endpoint is a listener. Register an endpoint' }
    : checkTargetUrl(body.target_url, settings.HOOKLINE_ALLOW_HTTP, addressPolicy);
  const errors: InputError[] = [
    ...(mistake && !isKept ? [{ pointer: '/target_url', detail: mistake.detail }] : []),
    ...checkEventKinds(body.event_kinds, knownKinds),
    ...checkHeaders(body.headers, body.legacy_header_prefix),
    ...checkMasks(body, before),
    ...checkDeliveryOptions(
      body,
      before,
      (url) => checkTargetUrl(url, settings.HOOKLINE_ALLOW_HTTP, addressPolicy)?.detail,
    ),
    ...(body.status_reason !== undefined && body.status !== 'paused'
      ? [{ pointer: '/status_reason', detail: 'can only be given with the status paused' }]
      : []),
    ...checkOrder(body),
  ];
  if (mistake?.insecure)
    throw new Problem('insecure_target_url', `The target URL ${mistake.detail}.`, { errors });
  if (errors.length > 0) throw invalidRequest(errors);

  const unmasked = unmaskOptions(body, before?.secrets.options ?? {});
  const { verify_token = undefined, ordering = 'none', ...rest } = unmasked;
  // In the form that the URL standard gives it, so that what is shown is what is called.
  const target_url = new URL(body.target_url).href;
  const isRequired = settings.HOOKLINE_ENDPOINT_VERIFICATION !== 'off';
  const pending = isRequired && before?.verified_url !== target_url;
  const reason = before?.status === 'pending' && before.target_url === target_url && before.status_reason;
  const token = verify_token === MASKED_VALUE ? before?.secrets.verify_token : verify_token;
  return {
    ...rest,
    ...(ordering !== 'none' && { ordering }),
    target_url,
    headers: unmask(body.headers, before),
    ...(token !== undefined && { verify_token: token }),
    status: pending ? 'pending' : body.status,
    status_when_verified: body.status,
    ...(pending && { status_reason: reason || 'It has not been verified yet.' }),
  };
}

/** Rules of an order need one. */
function checkOrder(body: z.output<typeof endpointBody>): InputError[] {
  if (body.ordering !== undefined && body.ordering !== 'none') return [];
  return (['order_skip', 'order_skip_after'] as const).flatMap((name) =>
    body[name] === undefined
      ? []
      : [
          {
            pointer: `/${name}`,
            detail: 'goes with the ordering key or endpoint; leave it out, or choose one',
          },
        ],
  );
}

/** A masked value stands for the stored one; there must be one. */
function checkMasks(
  { headers, verify_token }: z.output<typeof endpointBody>,
  before?: EndpointWithSecrets,
): InputError[] {
  const detail = 'is masked, but no value is stored for it; send the value itself';
  const errors = Object.entries(headers)
    .filter(([name, value]) => value === MASKED_VALUE && storedValue(name, before) === undefined)
    .map(([name]) => ({ pointer: toPointer(['headers', name]), detail }));
  if (verify_token === MASKED_VALUE && before?.secrets.verify_token === undefined)
    errors.push({ pointer: '/verify_token', detail });
  return errors;
}

function unmask(headers: Record<string, string>, before?: EndpointWithSecrets): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      value === MASKED_VALUE ? (storedValue(name, before) ?? '') : value,
    ]),
  );
}

function storedValue(name: string, before: EndpointWithSecrets | undefined): string | undefined {
  const stored = Object.entries(before?.secrets.headers ?? {});
  return stored.find(([known]) => known.toLowerCase() === name.toLowerCase())?.[1];
}
