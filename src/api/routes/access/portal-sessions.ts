import { z } from 'zod';
import { PORTAL_SCOPES, PORTAL_SESSION_MS, portalUrl } from '../../../domain/access/portal-session.js';
import { formatDuration, parseDuration } from '../../../domain/basics/duration.js';
import { isId } from '../../../domain/basics/ids.js';
import { notFound } from '../../../domain/http/problem.js';
import type { ApiDependencies } from '../../http/context.js';
import { durationSchema } from '../../http/durations.js';
import { requireHeld, requireMayEnd } from '../../http/grantable.js';
import { type Operation, operation, pathTo } from '../../http/operation.js';
import { originOf } from '../../http/origin.js';
import { cutPage, pagingParameters, renderPage } from '../../http/paging.js';
import { pageOf } from '../../http/schemas.js';
import { findAccount, findActiveAccount } from './find-account.js';
import { newPortalSessionSchema, portalSessionSchema } from './portal-session-view.js';

const { usual, least, most } = PORTAL_SESSION_MS;

const body = z.strictObject({
  name: z
    .string()
    .min(1)
    .max(256)
    .default('portal')
    .describe('Whom it is for: shown in the portal, and in changes that are made with it'),
  expires_in: durationSchema(least, most)
    .default(formatDuration(usual))
    .describe('How long it lasts; never longer than the API key that makes it'),
  scopes: z
    .array(z.enum(PORTAL_SCOPES))
    .min(1, 'must name at least one scope')
    .max(PORTAL_SCOPES.length)
    .default([...PORTAL_SCOPES])
    .describe('What it allows; by default all of these. You must hold each of them'),
});

/** Portal sessions: links with which subscribers see and manage the endpoints of their account, without an API key. */
export function portalSessionOperations(dependencies: ApiDependencies): Operation[] {
  const { database, publicUrl } = dependencies;
  const { portalSessions } = database;
  return [
    operation({
      method: 'post',
      path: '/accounts/:id/portal_sessions',
      id: 'createPortalSession',
      summary:
        'Create a link to the portal, for a subscriber of the account; its token is shown only in this response',
      scope: 'keys:write',
      isAboutAccounts: true,
      body,
      bodyIsOptional: true,
      example: { name: 'Ada at Acme', expires_in: '1h' },
      responses: { 201: { description: 'The session, with its token', schema: newPortalSessionSchema } },
      problems: ['account_state_conflict'],
      async handle(ctx, { params: { id = '' }, body: { name, expires_in, scopes } }) {
        const account = await findActiveAccount(dependencies, ctx, id);
        requireHeld(ctx, scopes);
        const asked = Date.now() + parseDuration(expires_in);
        const makerEnds = Date.parse(ctx.state.caller.expires_at ?? '') || asked;
        const input = {
          name,
          scopes: [...new Set(scopes)],
          expires_at: new Date(Math.min(asked, makerEnds)),
        };
        const origin = originOf(ctx, account.id);
        const { token, session } = await portalSessions.create(account.id, input, origin);
        ctx.status = 201;
        ctx.set({
          location: pathTo(ctx, '/accounts/:id/portal_sessions/:session_id', { session_id: session.id }),
          'cache-control': 'no-store',
        });
        ctx.body = { ...session, token, url: portalUrl(publicUrl, token) };
      },
    }),

    operation({
      method: 'get',
      path: '/accounts/:id/portal_sessions',
      id: 'listPortalSessions',
      summary: 'List portal sessions, oldest first; those that have ended are listed for a day',
      scope: 'keys:read',
      isAboutAccounts: true,
      query: z.strictObject(pagingParameters),
      responses: { 200: { description: 'A page of sessions', schema: pageOf(portalSessionSchema) } },
      problems: [],
      async handle(ctx, { params: { id = '' }, query: { limit, after } }) {
        const account = await findAccount(dependencies, ctx, id);
        ctx.body = renderPage(ctx, cutPage(await portalSessions.list(account.id, limit + 1, after), limit));
      },
    }),

    operation({
      method: 'delete',
      path: '/accounts/:id/portal_sessions/:session_id',
      id: 'revokePortalSession',
      summary:
        'End a portal session; its token stops working within 5 seconds, and the streams that it opened end. You must hold its scopes',
      scope: 'keys:write',
      isAboutAccounts: true,
      responses: { 204: { description: 'Ended' } },
      problems: [],
      async handle(ctx, { params: { id = '', session_id = '' } }) {
        const account = await findAccount(dependencies, ctx, id);
        const session = isId('portal_session', session_id)
          ? await portalSessions.get(account.id, session_id)
          : undefined;
        if (session) requireMayEnd(ctx, session.scopes, account.id);
        const revoked =
          session && (await portalSessions.revoke(account.id, session_id, originOf(ctx, account.id)));
        if (!revoked) throw notFound('portal session', session_id);
        ctx.status = 204;
      },
    }),
  ];
}
