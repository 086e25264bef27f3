import { z } from 'zod';
import { SCOPES } from '../../../domain/access/api-key.js';
import {
  CLIENT_AUTH_METHODS,
  GRANT_TYPES,
  isRedirectUri,
  type OAuthClient,
} from '../../../domain/access/oauth-client.js';
import { parseDuration } from '../../../domain/basics/duration.js';
import { notFound, Problem } from '../../../domain/http/problem.js';
import { sharedNow } from '../../../domain/time/shared-time.js';
import { requireHeld, requireLasting, requireMayEnd } from '../../http/caller/refusals.js';
import type { ApiDependencies } from '../../http/context.js';
import { found } from '../../http/found.js';
import { type Operation, operation } from '../../http/operation.js';
import { originOf } from '../../http/origin.js';
import { listOperation } from '../../http/paging.js';
import { overlapSchema } from '../../http/parameters.js';
import { timeSchema } from '../../http/schemas.js';
import { invalidRequest } from '../../http/validation.js';

const oauthClientSchema = z
  .object({
    id: z.string(),
    account_id: z.string(),
    name: z.string(),
    grant_types: z.array(z.enum(GRANT_TYPES)),
    redirect_uris: z.array(z.string()),
    scopes: z.array(z.enum(SCOPES)),
    token_endpoint_auth_method: z.enum(CLIENT_AUTH_METHODS),
    created_at: timeSchema,
  })
  .meta({ id: 'OAuthClient' });

const oauthClientWithSecretSchema = oauthClientSchema
  .extend({
    secret: z.string().optional().describe('hlcs_…: shown only in this response; a public client has none'),
  })
  .meta({ id: 'OAuthClientWithSecret' });

const clientBody = z.strictObject({
  name: z.string().min(1).max(256).describe('Name on the consent page'),
  grant_types: z.array(z.enum(GRANT_TYPES)).min(1).max(GRANT_TYPES.length).default(['client_credentials']),
  redirect_uris: z
    .array(
      z
        .string()
        .max(2_048)
        .refine(
          isRedirectUri,
          'must be an https URI, or http on 127.0.0.1, [::1] or localhost, without user information and fragment',
        ),
    )
    .max(20)
    .default([]),
  scopes: z.array(z.enum(SCOPES)).min(1, 'must name at least one scope').max(SCOPES.length),
  token_endpoint_auth_method: z
    .enum(CLIENT_AUTH_METHODS)
    .default('client_secret_basic')
    .describe(
      'How the client authenticates; `none` for an application on people’s own devices or in a browser',
    ),
});

const EXAMPLE = {
  name: 'Dashboard',
  scopes: ['profile:read'],
  grant_types: ['authorization_code', 'refresh_token'],
  redirect_uris: ['https://app.example.com/callback'],
  token_endpoint_auth_method: 'none',
};

const rotationBody = z.strictObject({
  overlap: overlapSchema('0s').describe('How long the old secret keeps working; by default it stops at once'),
});

/** OAuth clients: applications that get tokens for the account. */
export function oauthClientOperations({ database }: ApiDependencies): Operation[] {
  const { oauthClients, oauthRecords } = database;
  /** The account's own client. @throws Problem 404 */
  const findClient = (account_id: string, id: string): Promise<OAuthClient> =>
    found('oauth_client', id, () => oauthClients.get(account_id, id));

  return [
    operation('post', '/oauth_clients', 'createOAuthClient', {
      summary: 'Register an OAuth client; its secret is shown only in this response',
      scope: 'keys:write',
      body: clientBody,
      example: EXAMPLE,
      responses: { 201: { description: 'The client', schema: oauthClientWithSecretSchema } },
      location: '/oauth_clients/:id',
      isSecret: true,
      problems: ['expiring_key'],
      async handle({ account_id, body }, ctx) {
        requireHeld(ctx, body.scopes);
        requireLasting(ctx);
        checkGrants(body);
        const { client, secret } = await oauthClients.create(account_id, distinct(body), originOf(ctx));
        return { ...client, ...(secret !== undefined && { secret }) };
      },
    }),

    listOperation('/oauth_clients', 'listOAuthClients', {
      summary: 'List OAuth clients, oldest first',
      scope: 'keys:read',
      page: ['A page of clients', oauthClientSchema],
      read: ({ account_id, query: { limit, after } }) => oauthClients.list(account_id, limit + 1, after),
    }),

    operation('get', '/oauth_clients/:id', 'getOAuthClient', {
      summary: 'Read an OAuth client: everything but its secret',
      scope: 'keys:read',
      responses: { 200: { description: 'The client', schema: oauthClientSchema } },
      handle: ({ account_id, params: { id } }) => findClient(account_id, id),
    }),

    operation('put', '/oauth_clients/:id', 'replaceOAuthClient', {
      summary: 'Replace the registration of an OAuth client; removed scopes stop working within 5 seconds',
      scope: 'keys:write',
      body: clientBody,
      responses: { 200: { description: 'The client after the change', schema: oauthClientSchema } },
      problems: ['expiring_key'],
      async handle({ account_id, params: { id }, body }, ctx) {
        const before = await findClient(account_id, id);
        // New redirect URIs receive the codes of everybody who allows the client.
        requireHeld(ctx, [...before.scopes, ...body.scopes]);
        requireLasting(ctx);
        checkGrants(body);
        checkAuthMethod(before, body);
        const client = await oauthClients.replace(account_id, id, distinct(body), originOf(ctx));
        if (!client) throw notFound('OAuth client', id);
        return client;
      },
    }),

    operation('post', '/oauth_clients/:id/secret/rotate', 'rotateOAuthClientSecret', {
      summary: 'Rotate the secret of an OAuth client; the new one is shown only in this response',
      scope: 'keys:write',
      body: rotationBody,
      responses: {
        200: { description: 'The client with its new secret', schema: oauthClientWithSecretSchema },
      },
      isSecret: true,
      problems: ['client_without_secret', 'expiring_key'],
      async handle({ account_id, params: { id }, body: { overlap } }, ctx) {
        const client = await findClient(account_id, id);
        // The secret gives access to the client's tokens.
        requireHeld(ctx, client.scopes);
        requireLasting(ctx);
        if (client.token_endpoint_auth_method === 'none') {
          throw new Problem('client_without_secret', `The OAuth client ${id} is public and has no secret.`);
        }
        const overlapEnds = new Date(sharedNow() + parseDuration(overlap));
        const secret = await oauthClients.rotateSecret(account_id, id, overlapEnds, originOf(ctx));
        if (secret === undefined) throw notFound('OAuth client', id);
        return { ...client, secret };
      },
    }),

    operation('delete', '/oauth_clients/:id', 'deleteOAuthClient', {
      summary: 'Remove an OAuth client; its tokens stop working within 5 seconds. You must hold its scopes',
      scope: 'keys:write',
      responses: { 204: { description: 'Removed' } },
      async handle({ account_id, params: { id } }, ctx) {
        const { scopes } = await findClient(account_id, id);
        requireMayEnd(ctx, scopes);
        if (!(await oauthClients.delete(account_id, id, originOf(ctx)))) throw notFound('OAuth client', id);
        await oauthRecords.revokeAllOf('client', id);
      },
    }),
  ];
}

function distinct(client: z.output<typeof clientBody>): z.output<typeof clientBody> {
  return {
    ...client,
    grant_types: [...new Set(client.grant_types)],
    scopes: [...new Set(client.scopes)],
  };
}

/** A client keeps its secret, or stays without one: this response shows no secret. @throws Problem 400 */
function checkAuthMethod(before: OAuthClient, after: z.output<typeof clientBody>): void {
  const isPublic = before.token_endpoint_auth_method === 'none';
  if (isPublic === (after.token_endpoint_auth_method === 'none')) return;
  const detail = isPublic
    ? 'must stay none: the client has no secret'
    : 'must not become none: the client has a secret';
  throw invalidRequest([{ pointer: '/token_endpoint_auth_method', detail }]);
}

/** Refuses combinations that cannot work. @throws Problem 400 */
function checkGrants(client: z.output<typeof clientBody>): void {
  const { grant_types, redirect_uris, token_endpoint_auth_method } = client;
  const errors = [];
  const withCode = grant_types.includes('authorization_code');
  if (withCode && redirect_uris.length === 0) {
    errors.push({ pointer: '/redirect_uris', detail: 'must contain at least one for authorization_code' });
  }
  if (!withCode && grant_types.includes('refresh_token')) {
    errors.push({
      pointer: '/grant_types',
      detail: 'must contain authorization_code if it contains refresh_token',
    });
  }
  if (token_endpoint_auth_method === 'none' && grant_types.includes('client_credentials')) {
    errors.push({
      pointer: '/token_endpoint_auth_method',
      detail: 'must not be none for client_credentials: without a secret anybody could be the client',
    });
  }
  if (errors.length > 0) throw invalidRequest(errors);
}
