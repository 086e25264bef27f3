import { z } from 'zod';
import { parseDuration } from '../../../domain/basics/duration.js';
import {
  DELIVERY_LIMITS,
  type DeliveryOptions,
  type DeliverySecrets,
  maskedIn,
} from '../../../domain/endpoint/delivery-options.js';
import { toPointer } from '../../../domain/http/json-pointer.js';
import type { InputError } from '../../../domain/http/problem.js';

const { attemptTimeoutMs, concurrency, secretLength } = DELIVERY_LIMITS;

const secret = z
  .string()
  .min(1)
  .max(secretLength)
  .describe('Encrypted, and shown masked; the mask keeps the stored one when sent back');

const authentication = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('bearer'),
    token: secret.regex(/^([A-Za-z0-9._~+/-]+=*|•+)$/, 'must be a token as RFC 6750, section 2.1, has it'),
  }),
]);

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
 * @param stored the secrets that a mask may stand for
 */
export function checkDeliveryOptions(
  options: DeliveryOptions & { headers: object },
  stored: DeliverySecrets,
): InputError[] {
  const masked = maskedIn(options)
    .filter((pointer) => stored[pointer] === undefined)
    .map((pointer) => ({
      pointer,
      detail: 'is masked, but no value is stored for it; send the value itself',
    }));
  const twice = Object.keys(options.headers)
    .filter((name) => options.authentication && name.toLowerCase() === 'authorization')
    .map((name) => ({
      pointer: toPointer(['headers', name]),
      detail: 'is set by authentication; leave one of the two out',
    }));
  return [...masked, ...twice];
}
