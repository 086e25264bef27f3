import { z } from 'zod';
import { SCOPES } from '../../domain/access/api-key.js';
import { CLIENT_AUTH_METHODS, GRANT_TYPES } from '../../domain/access/oauth-client.js';
import { DELIVERY_STATUSES } from '../../domain/delivery/delivery.js';
import { ENDPOINT_STATUSES, VERIFICATION_METHODS } from '../../domain/endpoint/endpoint.js';

/** Shapes of what the API answers. They document; answers are not filtered through them. */

const time = z.iso.datetime().describe('ISO 8601, UTC');

/** A list's answer. */
export function pageOf<T extends z.ZodType>(row: T) {
  return z.object({
    data: z.array(row),
    paging: z.object({
      cursors: z.object({ after: z.string().optional() }),
      next: z.string().optional().describe('Path of the next page; absent on the last'),
    }),
  });
}

export const endpointSchema = z.object({
  id: z.string(),
  account_id: z.string(),
  target_url: z.string(),
  event_kinds: z.array(z.string()),
  filter: z.record(z.string(), z.unknown()).optional(),
  description: z.string(),
  metadata: z.record(z.string(), z.string()),
  headers: z.record(z.string(), z.string()).describe('Names; the values are masked'),
  rate_limit: z.number().optional().describe('Deliveries per second, at most'),
  allowed_rate: z.number().int().optional().describe('Deliveries per minute that its subscriber allowed'),
  status: z.enum(ENDPOINT_STATUSES),
  status_reason: z.string().optional(),
  status_changed_at: time,
  verification_method: z.enum(VERIFICATION_METHODS),
  verify_token: z.string().optional().describe('Masked'),
  verified_at: time.optional(),
  signature_scheme: z.enum(['v1', 'v1a']),
  public_key: z.string().optional().describe('whpk_…, with the scheme v1a'),
  retry_schedule: z.array(z.string()).optional(),
  created_at: time,
  updated_at: time,
});

const keyFields = {
  secret: z.string().optional().describe('whsec_…, with the scheme v1'),
  public_key: z.string().optional().describe('whpk_…, with the scheme v1a'),
  signature_scheme: z.enum(['v1', 'v1a']),
  previous_expires_at: time.optional().describe('Until then those before sign along'),
};

export const endpointWithIncidentSchema = endpointSchema.extend({
  incident: z
    .object({
      since: time,
      failures: z.number().int(),
      last_failure: z.string(),
      last_failure_at: time,
      next_probe_at: time.optional().describe('Absent while no delivery has to wait'),
      disable_at: time.describe('When it is disabled unless it succeeds before'),
    })
    .optional()
    .describe('Absent where the endpoint is not failing'),
});

export const endpointWithSecretSchema = endpointSchema.extend(keyFields);

export const secretSchema = z.object(keyFields);

const attemptSchema = z.object({
  number: z.number().int(),
  at: time,
  duration_ms: z.number().int(),
  url_host: z.string(),
  status_code: z.number().int().optional(),
  error_code: z.string().optional(),
  error: z.string().optional(),
  response_headers: z.record(z.string(), z.string()).optional(),
  response_snippet: z.string().optional(),
  trigger: z.enum(['schedule', 'retry_after', 'manual', 'released']),
});

export const deliverySummarySchema = z.object({
  id: z.string(),
  event_id: z.string(),
  endpoint_id: z.string(),
  event_kind: z.string(),
  status: z.enum(DELIVERY_STATUSES),
  created_at: time,
  closed_at: time.optional(),
  next_attempt_at: time.optional(),
  reason: z.string().optional(),
  workflow_id: z.string(),
  run_id: z.string(),
});

const interventionSchema = z.object({
  action: z.enum(['retry', 'cancel', 'pause', 'resume', 'resend']),
  at: time,
  by: z.string(),
});

const historySchema = z.object({
  attempts: z.array(attemptSchema),
  interventions: z.array(interventionSchema).optional(),
});

export const deliverySchema = deliverySummarySchema.extend(historySchema.shape).extend({
  earlier_runs: z
    .array(
      deliverySummarySchema
        .pick({ run_id: true, status: true, created_at: true, closed_at: true, reason: true })
        .extend(historySchema.shape),
    )
    .optional()
    .describe('What the delivery was before it was sent again, newest first'),
});

export const resendSchema = z.object({ id: z.string(), run_id: z.string() });

export const deliveryRecordSchema = z.object({
  id: z.string(),
  status: z.enum(DELIVERY_STATUSES),
  attempts: z.array(attemptSchema),
  next_attempt_at: time.optional(),
  reason: z.string().optional(),
  interventions: z.array(interventionSchema).optional(),
});

const schemaVersion = { version: z.number().int(), schema: z.record(z.string(), z.unknown()) };

export const eventKindSchema = z.object({
  name: z.string(),
  description: z.string(),
  built_in: z.boolean(),
  ...schemaVersion,
  versions: z.array(z.object({ ...schemaVersion, created_at: time.optional() })),
  created_at: time.optional(),
  updated_at: time.optional(),
});

export const eventSummarySchema = z.object({ id: z.string(), kind: z.string(), created_at: time });

export const eventSchema = eventSummarySchema.extend({
  fan_out: z
    .object({
      started: z.number().int().describe('Deliveries that have been started'),
      total: z.number().int().describe('Deliveries that there are in all'),
    })
    .optional()
    .describe('Absent where there are 1 to 10 deliveries: they were started before the event was answered'),
  deliveries: z.array(deliverySummarySchema).describe('Of many, some: the list of deliveries has them all'),
  payload: z.unknown().describe('As it was received'),
});

export const acceptanceSchema = eventSummarySchema.extend({
  delivery_count: z.number().int(),
  deliveries: z
    .array(z.object({ id: z.string(), endpoint_id: z.string() }))
    .optional()
    .describe('Absent where there are more than 10'),
});

export const profileSchema = z.object({
  id: z.string(),
  account_id: z.string(),
  username: z.string(),
  name: z.string(),
  biography: z.string(),
  website: z.string().nullable(),
  picture_url: z.string().nullable(),
  followers_count: z.int().min(0),
  following_count: z.int().min(0),
  posts_count: z.int().min(0),
  created_at: time,
  updated_at: time,
});

export const apiKeySchema = z.object({
  id: z.string(),
  account_id: z.string(),
  name: z.string(),
  scopes: z.array(z.enum(SCOPES)),
  profile_id: z.string().optional(),
  created_at: time,
  expires_at: time.optional(),
  last_used_at: time.optional().describe('To within a minute'),
  revoked_at: time.optional(),
});

export const apiKeyWithKeySchema = apiKeySchema.extend({
  key: z.string().describe('The key, hlk_…: shown this once, only its hash is kept'),
});

export const accountSchema = z.object({ id: z.string(), name: z.string(), created_at: time });

export const accountWithKeySchema = accountSchema.extend({ api_key: apiKeyWithKeySchema });

export const oauthClientSchema = z.object({
  id: z.string(),
  account_id: z.string(),
  name: z.string(),
  grant_types: z.array(z.enum(GRANT_TYPES)),
  redirect_uris: z.array(z.string()),
  scopes: z.array(z.enum(SCOPES)),
  token_endpoint_auth_method: z.enum(CLIENT_AUTH_METHODS),
  created_at: time,
});

export const oauthClientWithSecretSchema = oauthClientSchema.extend({
  secret: z.string().optional().describe('hlcs_…: shown this once; a public client has none'),
});

export const loginSchema = z.object({
  account_id: z.string(),
  profile_id: z.string(),
  login_name: z.string(),
  scopes: z.array(z.enum(SCOPES)),
});

export const problemSchema = z.object({
  type: z.string(),
  title: z.string(),
  status: z.int(),
  detail: z.string(),
  code: z.string().describe('Stable: build on it'),
  request_id: z.string(),
  errors: z
    .array(
      z.object({
        pointer: z.string().optional().describe('JSON Pointer into the body'),
        parameter: z.string().optional().describe('Name of a parameter or header'),
        detail: z.string(),
      }),
    )
    .optional(),
});
