import { z } from 'zod';
import { SCOPES } from '../../../domain/access/api-key.js';
import { DESK_ROLES } from '../../../domain/access/desk-session.js';
import { Problem } from '../../../domain/http/problem.js';
import { CALLER_TYPES } from '../../http/caller/caller.js';
import type { ApiDependencies, Context } from '../../http/context.js';
import { type Operation, operation } from '../../http/operation.js';
import { originOf } from '../../http/origin.js';
import { timeSchema as time } from '../../http/schemas.js';
import { portalLookSchema } from './account-view.js';

const sessionSchema = z
  .object({
    type: z.enum(CALLER_TYPES),
    id: z.string().describe('key_…, client_…, ps_… or ds_…'),
    name: z.string().describe('Name of the API key, OAuth client, portal session or person at the desk'),
    account: z
      .object({
        id: z.string(),
        name: z.string(),
        reference: z.string().optional(),
        portal: portalLookSchema.optional().describe('How its portal looks, if it has a look of its own'),
      })
      .describe('The account that the token acts for'),
    person: z
      .object({
        subject: z.string().describe('As the identity provider calls the person'),
        role: z.enum(DESK_ROLES).describe('read: each request that would change something is refused'),
      })
      .optional()
      .describe('The person who signed in to the desk'),
    platform_id: z.string().optional().describe('The platform of the account'),
    profile_id: z.string().describe('The profile that GET /me returns'),
    scopes: z.array(z.enum(SCOPES)).describe('Scopes of the token'),
    expires_at: time.optional().describe('When the token stops working; absent if it does not'),
    temporal_ui: z
      .object({ url: z.string(), namespace: z.string() })
      .optional()
      .describe('Address of Temporal UI: for the scope admin, if TEMPORAL_UI_URL is set'),
  })
  .meta({
    id: 'Session',
    examples: [
      {
        type: 'portal_session',
        id: 'ps_01M7Y6GW4KS6J1CRXD65YC46K4',
        name: 'Ada at Acme',
        account: { id: 'acct_01M7Y6GW4KS6J1CRXD65YC46K4', name: 'Acme' },
        profile_id: 'prof_01M7Y6GW4KS6J1CRXD65YC46K4',
        scopes: ['endpoints:read', 'deliveries:read'],
        expires_at: '2026-11-21T13:00:00.000Z',
      },
    ],
  });

/** The caller's identity, by which an application decides what to show and allow. */
export function sessionOperations({ database, settings }: ApiDependencies): Operation[] {
  const nameOf = async (ctx: Context): Promise<string> => {
    const { name, id } = ctx.state.caller;
    return name ?? (await database.oauthClients.find(id))?.name ?? '';
  };
  return [
    operation('get', '/session', 'getSession', {
      summary: 'Owner, permissions and expiry of the token',
      isAboutAccounts: true,
      responses: { 200: { description: 'The holder of the token', schema: sessionSchema } },
      isSecret: true,
      async handle(_input, ctx) {
        const { caller } = ctx.state;
        const { name = '', reference, portal, platform_id } = ctx.state.account ?? {};
        return {
          type: caller.type,
          id: caller.id,
          name: await nameOf(ctx),
          account: { id: caller.account_id, name, reference, portal },
          person: caller.person,
          platform_id,
          profile_id: caller.profile_id,
          scopes: caller.scopes,
          expires_at: caller.token_expires_at,
          temporal_ui: caller.scopes.includes('admin') ? temporalUiOf(settings) : undefined,
        };
      },
    }),

    operation('delete', '/session', 'endSession', {
      summary:
        'End the session of the portal or the desk that the token belongs to; the token stops working within 5 seconds',
      isAboutAccounts: true,
      openToReaders: true,
      responses: { 204: { description: 'Ended' } },
      problems: ['not_a_portal_session'],
      async handle(_input, ctx) {
        const { type, account_id, home_account_id = account_id, id } = ctx.state.caller;
        const sessions =
          (type === 'portal_session' && database.portalSessions) ||
          (type === 'desk_session' && database.deskSessions);
        if (!sessions)
          throw new Problem(
            'not_a_portal_session',
            'Only a session of the portal or the desk is ended like this. Revoke an API key with DELETE /api_keys/{id}, an OAuth token at /oauth/revoke.',
          );
        await sessions.revoke(home_account_id, id, originOf(ctx, home_account_id));
      },
    }),
  ];
}

/** Where an operator looks at executions in Temporal. */
function temporalUiOf({ TEMPORAL_UI_URL, TEMPORAL_NAMESPACE }: ApiDependencies['settings']) {
  return TEMPORAL_UI_URL && { url: TEMPORAL_UI_URL.replace(/\/$/, ''), namespace: TEMPORAL_NAMESPACE };
}
