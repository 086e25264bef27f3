import { z } from 'zod';
import {
  ACCOUNT_STATUSES,
  type Account,
  type AccountLimits,
  MOST_OF_LIMITS,
  REFERENCE,
} from '../../../domain/access/account.js';
import { type AccountDeletion, DELETION_STAGES } from '../../../domain/access/account-deletion.js';
import { logoOrigin, PORTAL_COLOR, PORTAL_NAME } from '../../../domain/look/portal-look.js';
import { timeSchema as time } from '../../http/schemas.js';
import { apiKeyWithKeySchema } from './api-keys.js';

const limit = (name: keyof AccountLimits) => z.int().min(1).max(MOST_OF_LIMITS[name]);

export const accountLimits = z.strictObject({
  requests_per_minute: limit('requests_per_minute')
    .optional()
    .describe('Limit of each token, except for events'),
  events_per_minute: limit('events_per_minute')
    .optional()
    .describe('Limit of all tokens of the account together'),
  max_endpoints: limit('max_endpoints').optional(),
});

// Classes of Unicode are in no document: regular expressions of other languages lack them.
const lookName = z
  .string()
  .regex(PORTAL_NAME, 'must be a line of 1 to 60 characters')
  .meta({ openapi: { type: 'string', minLength: 1, maxLength: 60 } });
const lookLogo = z
  .string()
  .refine(
    (url) => logoOrigin(url) !== undefined,
    'must be an https URL, such as https://cdn.example.com/logo.svg',
  );
const lookColor = z.string().regex(PORTAL_COLOR, 'must be a colour such as #0a7f5a');

/** How the portal of an account looks. */
export const portalLookSchema = z.strictObject({
  name: lookName.optional().describe('Its name'),
  logo_url: lookLogo
    .optional()
    .describe(
      'A picture beside the name, from an origin that the installation allows (HOOKLINE_PORTAL_LOGO_ORIGINS)',
    ),
  color: lookColor
    .optional()
    .describe('Colour of links and buttons; shades with enough contrast are derived from it'),
});

/** A change of it: null takes the installation's. */
export const portalLookPatch = z.strictObject({
  name: lookName.nullable().optional(),
  logo_url: lookLogo.nullable().optional(),
  color: lookColor.nullable().optional(),
});

export const referenceSchema = z
  .string()
  .regex(REFERENCE, 'must be 1 to 128 of the characters A-Z a-z 0-9 _ . : @ -, and not begin with acct_');

export const accountSchema = z
  .object({
    id: z.string(),
    name: z.string(),
    platform_id: z
      .string()
      .optional()
      .describe('The platform that the account belongs to; absent if it belongs to none'),
    reference: z.string().optional().describe("The platform's own name for the account"),
    limits: accountLimits.describe("The account's own limits, each in place of the installation's"),
    portal: portalLookSchema
      .optional()
      .describe('How its portal looks, each in place of what the installation has'),
    status: z.enum(ACCOUNT_STATUSES),
    created_at: time,
    deletion_requested_at: time.optional(),
    erasure_requested_at: time
      .optional()
      .describe('Time of the request to erase its payloads; absent if they are kept'),
    deleted_at: time.optional(),
    deletion: z
      .object({
        stage: z.enum(DELETION_STAGES),
        credentials_ended: z.int().describe('API keys, OAuth clients, logins and portal sessions'),
        endpoints_deleted: z.int(),
        deliveries_ended: z
          .int()
          .describe('Deliveries that were open, about: one that was paused can count twice'),
        keys_erased: z
          .int()
          .optional()
          .describe(
            'Data keys that were deleted, about; nothing that they sealed can be read. Absent if payloads are kept',
          ),
      })
      .optional()
      .describe('How far its deletion is. Absent while that is under way and Temporal is unavailable'),
    version: z.int().describe('1 at first, and one more with each change'),
  })
  .meta({ id: 'Account' });

export const accountWithKeySchema = accountSchema
  .extend({
    api_key: apiKeyWithKeySchema
      .optional()
      .describe(
        'Expires when the token that creates the account does. Absent if a platform creates it, because it has keys',
      ),
  })
  .meta({ id: 'NewAccount' });

/** An account's entity tag. @param deletion how far its deletion is, if that is shown */
export function accountEtag({ id, version }: Account, deletion?: AccountDeletion): string {
  const progress = deletion ? `.${Object.values(deletion).join('.')}` : '';
  return `"${id}.${version}${progress}"`;
}
