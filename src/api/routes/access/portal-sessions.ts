import { z } from 'zod';
import {
  isReturnUrl,
  PORTAL_SCOPES,
  PORTAL_SESSION_MS,
  portalUrl,
} from '../../../domain/access/portal-session.js';
import { formatDuration, parseDuration } from '../../../domain/basics/duration.js';
import { notFound } from '../../../domain/http/problem.js';
import { sharedNow } from '../../../domain/time/shared-time.js';
import { requireHeld, requireMayEnd } from '../../http/caller/refusals.js';
import type { ApiDependencies } from '../../http/context.js';
import { found } from '../../http/found.js';
import { type Operation, operation, pathTo } from '../../http/operation.js';
import { originOf } from '../../http/origin.js';
import { listOperation } from '../../http/paging.js';
import { durationSchema } from '../../http/parameters.js';
import { deskSessionIdSchema, timeSchema as time } from '../../http/schemas.js';
import { findAccount, findActiveAccount } from './accounts.js';

const portalSessionSchema = z
  .object({
    id: z.string(),
    account_id: z.string(),
    name: z.string(),
    scopes: z.array(z.enum(PORTAL_SCOPES)),
    created_at: time,
    expires_at: time,
    revoked_at: time.optional(),
    return_url: z.string().optional().describe('Where its holder gets another link'),
    desk_session_id: deskSessionIdSchema,
  })
  .meta({ id: 'PortalSession' });

const newPortalSessionSchema = portalSessionSchema
  .extend({
    token: z.string().describe('hlps_…: shown only in this response; Hookline keeps a hash'),
    url: z.string().describe('A link for the subscriber: the portal, with the token in the fragment'),
  })
  .meta({ id: 'NewPortalSession' });

const { usual, least, most } = PORTAL_SESSION_MS;

const body = z.strictObject({
  name: z
    .string()
    .min(1)
    .max(256)
    .default('portal')
    .describe('Name of its holder: shown in the portal, and in changes that are made with it'),
  expires_in: durationSchema(least, most)
    .default(formatDuration(usual))
    .describe('Lifetime; never longer than that of the API key that creates it'),
  scopes: z
    .array(z.enum(PORTAL_SCOPES))
    .min(1, 'must name at least one scope')
    .max(PORTAL_SCOPES.length)
    .default([...PORTAL_SCOPES])
    .describe('Its scopes; by default all of these. You must hold each of them'),
  return_url: z
    .string()
    .refine(isReturnUrl, 'must be an https URL, such as https://app.example.com/webhooks')
    .optional()
    .describe('Your page to which the portal leads when the link has expired, where people get a new one'),
});

/** Portal sessions: links with which subscribers see and manage the endpoints of their account, without an API key. */
export function portalSessionOperations(dependencies: ApiDependencies): Operation[] {
  const { database, publicUrl } = dependencies;
  const { portalSessions } = database;
  return [
    operation('post', '/accounts/:id/portal_sessions', 'createPortalSession', {
      summary:
        'Create a link to the portal, for a subscriber of the account; its token is shown only in this response',
      scope: 'keys:write',
      isAboutAccounts: true,
      body,
      bodyIsOptional: true,
      example: { name: 'Ada at Acme', expires_in: '1h' },
      responses: { 201: { description: 'The session, with its token', schema: newPortalSessionSchema } },
      isSecret: true,
      problems: ['account_state_conflict'],
      async handle({ params: { id }, body: { name, expires_in, scopes, return_url } }, ctx) {
        const account = await findActiveAccount(dependencies, ctx, id);
        requireHeld(ctx, scopes);
        const asked = sharedNow() + parseDuration(expires_in);
        const { desk_session_id, expires_at } = ctx.state.caller;
        const makerEnds = Date.parse(expires_at ?? '') || asked;
        const input = {
          name,
          scopes: [...new Set(scopes)],
          expires_at: new Date(Math.min(asked, makerEnds)),
          return_url,
          desk_session_id,
        };
        const origin = originOf(ctx, account.id);
        const { token, session } = await portalSessions.create(account.id, input, origin);
        const route = '/accounts/:id/portal_sessions/:session_id';
        ctx.set('location', pathTo(ctx, route, { session_id: session.id }));
        return { ...session, token, url: portalUrl(publicUrl, token) };
      },
    }),

    listOperation('/accounts/:id/portal_sessions', 'listPortalSessions', {
      summary: 'List portal sessions, oldest first; those that have ended are listed for a day',
      scope: 'keys:read',
      isAboutAccounts: true,
      page: ['A page of sessions', portalSessionSchema],
      async read({ params: { id }, query: { limit, after } }, ctx) {
        const account = await findAccount(dependencies, ctx, id);
        return portalSessions.list(account.id, limit + 1, after);
      },
    }),

    operation('delete', '/accounts/:id/portal_sessions/:session_id', 'revokePortalSession', {
      summary:
        'End a portal session; its token stops working within 5 seconds, and the streams that it opened end. You must hold its scopes',
      scope: 'keys:write',
      isAboutAccounts: true,
      responses: { 204: { description: 'Ended' } },
      async handle({ params: { id, session_id } }, ctx) {
        const account = await findAccount(dependencies, ctx, id);
        const { scopes } = await found('portal_session', session_id, () =>
          portalSessions.get(account.id, session_id),
        );
        requireMayEnd(ctx, scopes, account.id);
        if (!(await portalSessions.revoke(account.id, session_id, originOf(ctx, account.id))))
          throw notFound('portal session', session_id);
      },
    }),
  ];
}
