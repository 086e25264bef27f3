import { z } from 'zod';
import { createdAt } from '../../../domain/basics/id-time.js';
import { isId, newId } from '../../../domain/basics/ids.js';
import { MAX_SUBJECT_LENGTH } from '../../../domain/event/subject.js';
import { notFound, Problem } from '../../../domain/http/problem.js';
import { type Erasure, OPEN_RULES, type OpenRule } from '../../../domain/privacy/erasure.js';
import { invalidRequest } from '../../http/body.js';
import type { ApiDependencies, Context } from '../../http/context.js';
import { type Operation, operation, pathTo } from '../../http/operation.js';
import { originOf, reasonSchema } from '../../http/origin.js';
import { cutPage, pagingParameters, renderPage } from '../../http/paging.js';
import { pageOf } from '../../http/schemas.js';
import { untilErased } from './await-erasure.js';
import { erasureSchema } from './erasure-view.js';
import { requireEncrypted } from './require-encrypted.js';

const open = z
  .enum(OPEN_RULES)
  .default('cancel')
  .describe(
    'cancel: the key is deleted at once, and open deliveries are cancelled; finish: it is deleted once they have ended',
  );

const RESPONSES = {
  200: { description: 'The key is deleted: the certificate', schema: erasureSchema },
  202: {
    description: 'The erasure is persisted, and carried out by itself: its certificate so far',
    schema: erasureSchema,
  },
};

/** Subjects: the persons that events are about, whose payloads can be erased. */
export function subjectOperations(dependencies: ApiDependencies): Operation[] {
  const { erasures } = dependencies.database;
  return [
    operation({
      method: 'post',
      path: '/subjects/erase',
      id: 'eraseSubject',
      summary: 'Erase the payloads of all events about a person, for good',
      scope: 'subjects:write',
      closedToPortal: true,
      body: z.strictObject({
        subject: z
          .string()
          .min(1)
          .max(MAX_SUBJECT_LENGTH)
          .describe('As it stands in the events; e-mail addresses are compared without regard to case'),
        open,
        reason: reasonSchema,
      }),
      example: { subject: 'ada@example.com', open: 'cancel', reason: 'request 4711 of 2026-11-21' },
      responses: RESPONSES,
      problems: ['not_found', 'payloads_not_encrypted'],
      async handle(ctx, { body: { subject, ...request } }) {
        await erase(dependencies, ctx, subject, request);
      },
    }),

    operation({
      method: 'delete',
      path: '/subjects/:subject',
      id: 'deleteSubject',
      summary:
        'Erase the payloads of all events about a person, for good. The address of a request is logged in many places: POST /subjects/erase is not',
      scope: 'subjects:write',
      closedToPortal: true,
      query: z.strictObject({ open }),
      responses: RESPONSES,
      problems: ['payloads_not_encrypted'],
      async handle(ctx, { params: { subject = '' }, query }) {
        await erase(dependencies, ctx, subject, query);
      },
    }),

    operation({
      method: 'get',
      path: '/erasures',
      id: 'listErasures',
      summary: 'List erasures, newest first',
      scope: 'changes:read',
      closedToPortal: true,
      query: z.strictObject(pagingParameters),
      responses: { 200: { description: 'A page of certificates', schema: pageOf(erasureSchema) } },
      problems: [],
      async handle(ctx, { query: { limit, after } }) {
        const rows = await erasures.list(ctx.state.caller.account_id, limit + 1, after);
        ctx.body = renderPage(ctx, cutPage(rows, limit));
      },
    }),

    operation({
      method: 'get',
      path: '/erasures/:id',
      id: 'getErasure',
      summary: 'Read the certificate of an erasure',
      scope: 'changes:read',
      closedToPortal: true,
      responses: { 200: { description: 'The certificate', schema: erasureSchema } },
      problems: [],
      async handle(ctx, { params: { id = '' } }) {
        const erasure = isId('erasure', id) ? await erasures.get(ctx.state.caller.account_id, id) : undefined;
        if (!erasure) throw notFound('erasure', id);
        ctx.body = erasure;
      },
    }),
  ];
}

/**
 * Starts an erasure, and answers with its certificate; with that of the erasure that deletes the key already, if there is one. No answer, log or record repeats the subject.
 */
async function erase(
  { database, sealer, startErasure }: ApiDependencies,
  ctx: Context,
  subject: string,
  { open: asked, reason }: { open: OpenRule; reason?: string | undefined },
): Promise<void> {
  const { account_id } = ctx.state.caller;
  requireEncrypted(sealer);
  if (reason?.toLowerCase().includes(subject.toLowerCase()))
    throw invalidRequest([{ pointer: '/reason', detail: 'must not name the subject: it is kept' }]);
  const token = await database.keySecrets.subjectToken(account_id, subject);
  const key = await database.dataKeys.ofSubject(account_id, token);
  const claimed =
    key && (await database.dataKeys.claimErasure(account_id, key.key_id, newId('erasure'), asked));
  if (!claimed)
    throw new Problem(
      'not_found',
      'The account has no payload about this subject, or it was erased before. The subject must be named as in the events.',
    );
  const { id: erasure_id, open } = claimed;
  const requested_at = createdAt(erasure_id);
  // Also if another request has claimed it, which may have been cut off since.
  await startErasure({
    account_id,
    erasure_id,
    key_id: key.key_id,
    key_created_at: key.created_at.toISOString(),
    open,
    requested_at,
    origin: { ...originOf(ctx), ...(reason !== undefined && { reason }) },
  });
  const begun: Erasure = {
    id: erasure_id,
    status: 'waiting',
    open,
    requested_at,
    requested_by: ctx.state.caller.id,
    key: { id: key.key_id, created_at: key.created_at.toISOString() },
    covered: { events: 0, deliveries: 0, open_deliveries: 0 },
    cancelled_deliveries: 0,
  };
  const erasure = (await untilErased(() => database.erasures.get(account_id, erasure_id), open)) ?? begun;
  ctx.status = erasure.erased_at === undefined ? 202 : 200;
  ctx.set('location', pathTo(ctx, '/erasures/:id', { id: erasure_id }));
  ctx.body = erasure;
}
