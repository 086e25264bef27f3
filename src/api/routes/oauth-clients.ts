import { z } from 'zod';
import { SCOPES } from '../../domain/api-key.js';
import { isId } from '../../domain/ids.js';
import { CLIENT_AUTH_METHODS, GRANT_TYPES, isRedirectUri } from '../../domain/oauth-client.js';
import { Problem } from '../../domain/problem.js';
import { invalidRequest } from '../body.js';
import type { ApiDependencies } from '../context.js';
import { requireHeld } from '../grantable.js';
import { type Operation, operation } from '../operation.js';
import { cutPage, pagingParameters, renderPage } from '../paging.js';
import { oauthClientSchema, oauthClientWithSecretSchema, pageOf } from '../schemas.js';

const clientBody = z.strictObject({
  name: z.string().min(1).max(256).describe('What people are shown when they are asked for consent'),
  grant_types: z.array(z.enum(GRANT_TYPES)).min(1).default(['client_credentials']),
  redirect_uris: z
    .array(
      z
        .string()
        .max(2_048)
        .refine(isRedirectUri, 'must be an https address, or http on localhost, without a fragment'),
    )
    .max(20)
    .default([]),
  scopes: z.array(z.enum(SCOPES)).min(1, 'must name at least one scope').max(SCOPES.length),
  token_endpoint_auth_method: z
    .enum(CLIENT_AUTH_METHODS)
    .default('client_secret_basic')
    .describe('How the client authenticates; none for an application on people’s own devices'),
});

/** OAuth clients: applications that get tokens for the account. */
export function oauthClientOperations({ database }: ApiDependencies): Operation[] {
  const { oauthClients, oauthRecords } = database;
  return [
    operation({
      method: 'post',
      path: '/oauth_clients',
      id: 'createOAuthClient',
      summary: 'Register an OAuth client; its secret is shown this once',
      scope: 'keys:write',
      body: clientBody,
      responses: { 201: { description: 'The client', schema: oauthClientWithSecretSchema } },
      problems: [],
      async handle(ctx, { body }) {
        requireHeld(ctx, body.scopes);
        checkGrants(body);
        const { client, secret } = await oauthClients.create(ctx.state.caller.account_id, {
          ...body,
          grant_types: [...new Set(body.grant_types)],
          scopes: [...new Set(body.scopes)],
        });
        ctx.status = 201;
        ctx.set({ location: `${ctx.path}/${client.id}`, 'cache-control': 'no-store' });
        ctx.body = { ...client, ...(secret !== undefined && { secret }) };
      },
    }),

    operation({
      method: 'get',
      path: '/oauth_clients',
      id: 'listOAuthClients',
      summary: 'List OAuth clients, oldest first',
      scope: 'keys:read',
      query: z.strictObject(pagingParameters),
      responses: { 200: { description: 'A page of clients', schema: pageOf(oauthClientSchema) } },
      problems: [],
      async handle(ctx, { query: { limit, after } }) {
        const rows = await oauthClients.list(ctx.state.caller.account_id, limit + 1, after);
        ctx.body = renderPage(ctx, cutPage(rows, limit));
      },
    }),

    operation({
      method: 'get',
      path: '/oauth_clients/:id',
      id: 'getOAuthClient',
      summary: 'Read an OAuth client: everything but its secret',
      scope: 'keys:read',
      responses: { 200: { description: 'The client', schema: oauthClientSchema } },
      problems: [],
      async handle(ctx, { params: { id = '' } }) {
        const { account_id } = ctx.state.caller;
        const client = isId('oauth_client', id) ? await oauthClients.get(account_id, id) : undefined;
        if (!client) throw missing(id);
        ctx.body = client;
      },
    }),

    operation({
      method: 'delete',
      path: '/oauth_clients/:id',
      id: 'deleteOAuthClient',
      summary: 'Remove an OAuth client; its tokens stop working within 5 seconds',
      scope: 'keys:write',
      responses: { 204: { description: 'Removed' } },
      problems: [],
      async handle(ctx, { params: { id = '' } }) {
        const { account_id } = ctx.state.caller;
        const removed = isId('oauth_client', id) && (await oauthClients.delete(account_id, id));
        if (!removed) throw missing(id);
        await oauthRecords.revokeAllOf('client', id);
        ctx.status = 204;
      },
    }),
  ];
}

/** Refuses what cannot work together. @throws Problem 400 */
function checkGrants(client: z.output<typeof clientBody>): void {
  const { grant_types, redirect_uris, token_endpoint_auth_method } = client;
  const errors = [];
  const withCode = grant_types.includes('authorization_code');
  if (withCode && redirect_uris.length === 0) {
    errors.push({ pointer: '/redirect_uris', detail: 'must name at least one for authorization_code' });
  }
  if (!withCode && grant_types.includes('refresh_token')) {
    errors.push({ pointer: '/grant_types', detail: 'must hold authorization_code for refresh_token' });
  }
  if (token_endpoint_auth_method === 'none' && grant_types.includes('client_credentials')) {
    errors.push({
      pointer: '/token_endpoint_auth_method',
      detail: 'must not be none for client_credentials: without a secret anybody could be the client',
    });
  }
  if (errors.length > 0) throw invalidRequest(errors);
}

function missing(id: string): Problem {
  return new Problem('not_found', `There is no OAuth client ${id}.`);
}
