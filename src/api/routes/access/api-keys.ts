import { z } from 'zod';
import { SCOPES } from '../../../domain/access/api-key.js';
import { ownProfileId } from '../../../domain/access/profile.js';
import { isId } from '../../../domain/basics/ids.js';
import { notFound } from '../../../domain/http/problem.js';
import { invalidRequest } from '../../http/body.js';
import type { ApiDependencies } from '../../http/context.js';
import { requireHeld, requireMayEnd, requireProfileHeld } from '../../http/grantable.js';
import { type Operation, operation, pathTo } from '../../http/operation.js';
import { originOf } from '../../http/origin.js';
import { cutPage, pagingParameters, renderPage } from '../../http/paging.js';
import { pageOf } from '../../http/schemas.js';
import { apiKeySchema, apiKeyWithKeySchema } from './api-key-view.js';

const apiKeyBody = z.strictObject({
  name: z.string().min(1).max(256),
  scopes: z.array(z.enum(SCOPES)).min(1, 'must name at least one scope').max(SCOPES.length),
  expires_at: z.iso
    .datetime()
    .describe(
      'When the key stops working, ISO 8601 in UTC. Default, and latest time: when the key that creates it stops working; never if that does not expire',
    )
    .optional(),
  profile_id: z
    .string()
    .describe(
      "The profile that GET /me returns for this key. Default: the account's own. A profile other than the caller's requires profiles:read",
    )
    .optional(),
});

const EXAMPLE = { name: 'website', scopes: ['profile:read'], expires_at: '2027-12-31T00:00:00Z' };

/** API keys: what an account's own systems call with. */
export function apiKeyOperations({ database }: ApiDependencies): Operation[] {
  const { apiKeys, profiles } = database;
  return [
    operation({
      method: 'post',
      path: '/api_keys',
      id: 'createApiKey',
      summary: 'Create an API key, which is shown only in this response',
      scope: 'keys:write',
      body: apiKeyBody,
      example: EXAMPLE,
      responses: { 201: { description: 'The key', schema: apiKeyWithKeySchema } },
      problems: [],
      async handle(ctx, { body: { name, scopes, expires_at, profile_id } }) {
        const { account_id } = ctx.state.caller;
        requireHeld(ctx, scopes);
        requireProfileHeld(ctx, profile_id ?? ownProfileId(account_id), scopes);
        const ends = endOf(expires_at, ctx.state.caller.expires_at);
        if (profile_id !== undefined && !(await profiles.get(account_id, profile_id))) {
          throw invalidRequest([{ pointer: '/profile_id', detail: 'is not a profile of this account' }]);
        }
        const { key, api_key } = await apiKeys.create(account_id, name, [...new Set(scopes)], originOf(ctx), {
          ...(ends !== undefined && { expires_at: ends }),
          ...(profile_id !== undefined && { profile_id }),
        });
        ctx.status = 201;
        ctx.set({ location: pathTo(ctx, '/api_keys/:id', { id: api_key.id }), 'cache-control': 'no-store' });
        ctx.body = { ...api_key, key };
      },
    }),

    operation({
      method: 'get',
      path: '/api_keys',
      id: 'listApiKeys',
      summary: 'List API keys, oldest first, including revoked and expired ones',
      scope: 'keys:read',
      query: z.strictObject(pagingParameters),
      responses: { 200: { description: 'A page of keys', schema: pageOf(apiKeySchema) } },
      problems: [],
      async handle(ctx, { query: { limit, after } }) {
        const rows = await apiKeys.list(ctx.state.caller.account_id, limit + 1, after);
        ctx.body = renderPage(ctx, cutPage(rows, limit));
      },
    }),

    operation({
      method: 'get',
      path: '/api_keys/:id',
      id: 'getApiKey',
      summary: 'Read an API key: everything but the key itself; revoked keys are only in the list',
      scope: 'keys:read',
      responses: { 200: { description: 'The key', schema: apiKeySchema } },
      problems: [],
      async handle(ctx, { params: { id = '' } }) {
        const key = isId('api_key', id) ? await apiKeys.get(ctx.state.caller.account_id, id) : undefined;
        if (!key) throw notFound('API key', id);
        ctx.body = key;
      },
    }),

    operation({
      method: 'delete',
      path: '/api_keys/:id',
      id: 'revokeApiKey',
      summary:
        'Revoke an API key for good; it stops working within 5 seconds and stays in the list. You must hold its scopes',
      scope: 'keys:write',
      responses: { 204: { description: 'Revoked' } },
      problems: [],
      async handle(ctx, { params: { id = '' } }) {
        const { account_id, id: own } = ctx.state.caller;
        const key = isId('api_key', id) ? await apiKeys.get(account_id, id) : undefined;
        if (!key) throw notFound('API key', id);
        if (id !== own) requireMayEnd(ctx, key.scopes);
        if (!(await apiKeys.revoke(account_id, id, originOf(ctx)))) throw notFound('API key', id);
        ctx.status = 204;
      },
    }),
  ];
}

/** When a new key ends: as asked, and at the latest when the key that makes it does. @throws Problem 400 */
function endOf(asked: string | undefined, makerEnds: string | undefined): Date | undefined {
  const ends = asked ?? makerEnds;
  if (ends === undefined) return undefined;
  const detail =
    Date.parse(ends) <= Date.now()
      ? 'must be in the future'
      : makerEnds !== undefined && Date.parse(ends) > Date.parse(makerEnds)
        ? `must not be after ${makerEnds}, when the key that makes this one expires`
        : undefined;
  if (detail !== undefined) throw invalidRequest([{ pointer: '/expires_at', detail }]);
  return new Date(ends);
}
