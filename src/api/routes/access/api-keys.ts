import { z } from 'zod';
import { SCOPES } from '../../../domain/access/api-key.js';
import { ownProfileId } from '../../../domain/access/profile.js';
import { notFound } from '../../../domain/http/problem.js';
import { sharedNow } from '../../../domain/time/shared-time.js';
import { requireHeld, requireMayEnd, requireProfileHeld } from '../../http/caller/refusals.js';
import type { ApiDependencies } from '../../http/context.js';
import { found } from '../../http/found.js';
import { type Operation, operation } from '../../http/operation.js';
import { originOf } from '../../http/origin.js';
import { listOperation } from '../../http/paging.js';
import { deskSessionIdSchema, timeSchema as time } from '../../http/schemas.js';
import { invalidRequest } from '../../http/validation.js';

const apiKeySchema = z
  .object({
    id: z.string(),
    account_id: z.string(),
    name: z.string(),
    scopes: z.array(z.enum(SCOPES)),
    profile_id: z.string().optional(),
    desk_session_id: deskSessionIdSchema,
    created_at: time,
    expires_at: time.optional(),
    last_used_at: time.optional().describe('To within a minute'),
    revoked_at: time.optional(),
  })
  .meta({ id: 'ApiKey' });

export const apiKeyWithKeySchema = apiKeySchema
  .extend({
    key: z.string().describe('The key, hlk_…: shown only in this response; Hookline keeps a hash'),
  })
  .meta({ id: 'NewApiKey' });

const apiKeyBody = z.strictObject({
  name: z.string().min(1).max(256),
  scopes: z.array(z.enum(SCOPES)).min(1, 'must name at least one scope').max(SCOPES.length),
  expires_at: z.iso
    .datetime()
    .describe(
      'Time at which the key expires, ISO 8601 in UTC. Default, and latest time: when the token that creates it expires; never if that does not expire',
    )
    .optional(),
  profile_id: z
    .string()
    .describe(
      "The profile that GET /me returns for this key. Default: the account's own. A profile other than the caller's requires profiles:read",
    )
    .optional(),
});

/** API keys: what an account's own systems call with. */
export function apiKeyOperations({ database }: ApiDependencies): Operation[] {
  const { apiKeys, profiles } = database;
  return [
    operation('post', '/api_keys', 'createApiKey', {
      summary: 'Create an API key, which is shown only in this response',
      scope: 'keys:write',
      body: apiKeyBody,
      example: { name: 'website', scopes: ['profile:read'], expires_at: '2027-12-31T00:00:00Z' },
      responses: { 201: { description: 'The key', schema: apiKeyWithKeySchema } },
      location: '/api_keys/:id',
      isSecret: true,
      async handle({ account_id, body: { name, scopes, expires_at, profile_id } }, ctx) {
        requireHeld(ctx, scopes);
        requireProfileHeld(ctx, profile_id ?? ownProfileId(account_id), scopes);
        const { desk_session_id, expires_at: makerEnds } = ctx.state.caller;
        const ends = endOf(expires_at, makerEnds);
        if (profile_id !== undefined && !(await profiles.get(account_id, profile_id))) {
          throw invalidRequest([{ pointer: '/profile_id', detail: 'is not a profile of this account' }]);
        }
        const { key, api_key } = await apiKeys.create(account_id, name, [...new Set(scopes)], originOf(ctx), {
          expires_at: ends,
          profile_id,
          desk_session_id,
        });
        return { ...api_key, key };
      },
    }),

    listOperation('/api_keys', 'listApiKeys', {
      summary: 'List API keys, oldest first, including revoked and expired ones',
      scope: 'keys:read',
      page: ['A page of keys', apiKeySchema],
      read: ({ account_id, query: { limit, after } }) => apiKeys.list(account_id, limit + 1, after),
    }),

    operation('get', '/api_keys/:id', 'getApiKey', {
      summary: 'Read an API key: everything but the key itself; revoked keys are only in the list',
      scope: 'keys:read',
      responses: { 200: { description: 'The key', schema: apiKeySchema } },
      handle: ({ account_id, params: { id } }) => found('api_key', id, () => apiKeys.get(account_id, id)),
    }),

    operation('delete', '/api_keys/:id', 'revokeApiKey', {
      summary:
        'Revoke an API key for good; it stops working within 5 seconds and stays in the list. You must hold its scopes',
      scope: 'keys:write',
      responses: { 204: { description: 'Revoked' } },
      async handle({ account_id, params: { id } }, ctx) {
        const key = await found('api_key', id, () => apiKeys.get(account_id, id));
        if (id !== ctx.state.caller.id) requireMayEnd(ctx, key.scopes);
        if (!(await apiKeys.revoke(account_id, id, originOf(ctx)))) throw notFound('API key', id);
      },
    }),
  ];
}

/** When a new key ends: as asked, and at the latest when the key that makes it does. @throws Problem 400 */
function endOf(asked: string | undefined, makerEnds: string | undefined): Date | undefined {
  const ends = asked ?? makerEnds;
  if (ends === undefined) return undefined;
  const detail =
    Date.parse(ends) <= sharedNow()
      ? 'must be in the future'
      : makerEnds !== undefined && Date.parse(ends) > Date.parse(makerEnds)
        ? `must not be after ${makerEnds}, when the key that makes this one expires`
        : undefined;
  if (detail !== undefined) throw invalidRequest([{ pointer: '/expires_at', detail }]);
  return new Date(ends);
}
