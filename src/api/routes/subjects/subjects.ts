import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { createdAt } from '../../../domain/basics/id-time.js';
import { newId } from '../../../domain/basics/ids.js';
import { MAX_SUBJECT_LENGTH } from '../../../domain/event/subject.js';
import { Problem } from '../../../domain/http/problem.js';
import {
  ERASURE_STATUSES,
  type Erasure,
  OPEN_RULES,
  type OpenRule,
} from '../../../domain/privacy/erasure.js';
import type { PayloadSealer } from '../../../domain/privacy/payload-sealer.js';
import { sharedNow } from '../../../domain/time/shared-time.js';
import type { ApiDependencies, Context } from '../../http/context.js';
import { found } from '../../http/found.js';
import { type Operation, operation } from '../../http/operation.js';
import { originOf, reasonSchema } from '../../http/origin.js';
import { listOperation } from '../../http/paging.js';
import { timeSchema as time } from '../../http/schemas.js';
import { invalidRequest } from '../../http/validation.js';

const count = z.int();

/** An erasure's certificate, as the HTTP interface shows it. */
const erasureSchema = z
  .object({
    id: z.string(),
    status: z
      .enum(ERASURE_STATUSES)
      .describe(
        'waiting: for open deliveries to end; erased: the key is deleted; complete: nothing of the subject is open either',
      ),
    open: z.enum(OPEN_RULES),
    requested_at: time,
    requested_by: z.string().describe('The API key or OAuth client that requested it'),
    erased_at: time.optional().describe('When the key was deleted'),
    completed_at: time.optional(),
    reapplied_at: time
      .optional()
      .describe('Time at which the key was deleted again after a restored backup had brought it back'),
    key: z
      .object({ id: z.string(), created_at: time })
      .describe('The data key. Everything that it encrypted names it, and cannot be read without it'),
    covered: z
      .object({ events: count, deliveries: count, open_deliveries: count })
      .describe('Data about the subject that was kept when the erasure was requested'),
    cancelled_deliveries: count.describe('Open deliveries that were cancelled because of it'),
  })
  .meta({ id: 'Erasure' });

const open = z
  .enum(OPEN_RULES)
  .default('cancel')
  .describe(
    'cancel: the key is deleted at once, and open deliveries are cancelled; finish: it is deleted once they have ended',
  );

const RESPONSES = {
  200: { description: 'The key is deleted: the certificate', schema: erasureSchema },
  202: {
    description: 'The erasure is stored and runs by itself: its certificate so far',
    schema: erasureSchema,
  },
};

/** Subjects: the persons that events are about, whose payloads can be erased. */
export function subjectOperations(dependencies: ApiDependencies): Operation[] {
  const { erasures } = dependencies.database;
  return [
    operation('post', '/subjects/erase', 'eraseSubject', {
      summary: 'Erase the payloads of all events about a person, for good',
      scope: 'subjects:write',
      closedToPortal: true,
      body: z.strictObject({
        subject: z
          .string()
          .min(1)
          .max(MAX_SUBJECT_LENGTH)
          .describe('The subject as in the events; e-mail addresses are compared without regard to case'),
        open,
        reason: reasonSchema,
      }),
      example: { subject: 'ada@example.com', open: 'cancel', reason: 'request 4711 of 2026-11-21' },
      responses: RESPONSES,
      problems: ['not_found', 'payloads_not_encrypted'],
      location: '/erasures/:id',
      handle: ({ body: { subject, ...request } }, ctx) => erase(dependencies, ctx, subject, request),
    }),

    operation('delete', '/subjects/:subject', 'deleteSubject', {
      summary:
        'Erase the payloads of all events about a person, for good. The address of a request is logged in many places: POST /subjects/erase is not',
      scope: 'subjects:write',
      closedToPortal: true,
      query: z.strictObject({ open }),
      responses: RESPONSES,
      problems: ['payloads_not_encrypted'],
      location: '/erasures/:id',
      handle: ({ params: { subject }, query }, ctx) => erase(dependencies, ctx, subject, query),
    }),

    listOperation('/erasures', 'listErasures', {
      summary: 'List erasures, newest first',
      scope: 'changes:read',
      closedToPortal: true,
      page: ['A page of certificates', erasureSchema],
      read: ({ account_id, query: { limit, after } }) => erasures.list(account_id, limit + 1, after),
    }),

    operation('get', '/erasures/:id', 'getErasure', {
      summary: 'Read the certificate of an erasure',
      // Whoever has requested it may see how it ends.
      scope: ['changes:read', 'subjects:write'],
      closedToPortal: true,
      responses: { 200: { description: 'The certificate', schema: erasureSchema } },
      handle: ({ account_id, params: { id } }) => found('erasure', id, () => erasures.get(account_id, id)),
    }),
  ];
}

/**
 * Starts an erasure, and answers with its certificate; with that of the erasure that deletes the key already, if there
 * is one. No response, log or record repeats the subject.
 */
async function erase(
  { database, sealer, startErasure }: ApiDependencies,
  ctx: Context,
  subject: string,
  { open: asked, reason }: { open: OpenRule; reason?: string | undefined },
): Promise<Erasure> {
  const { account_id } = ctx.state.caller;
  requireEncrypted(sealer);
  if (reason?.toLowerCase().includes(subject.toLowerCase()))
    throw invalidRequest([{ pointer: '/reason', detail: 'must not name the subject: it is kept' }]);
  // Also where there is no key yet: no event was made of the profile.
  await database.profiles.keepUntold(account_id, subject.trim());
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
    origin: await database.privateInputs.keepOrigin({
      ...originOf(ctx),
      ...(reason !== undefined && { reason }),
    }),
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
  return erasure;
}

/** How long a request waits for the key to be deleted, and how often it looks. It takes some hundredths of a second. */
const WAIT = { limitMs: 3_000, pollMs: 50 };

/**
 * Waits a while for an erasure: until its key is deleted, or it waits for open deliveries.
 *
 * @returns it as it is then; `undefined` if it has not begun
 */
async function untilErased(
  read: () => Promise<Erasure | undefined>,
  open: OpenRule,
): Promise<Erasure | undefined> {
  const deadline = sharedNow() + WAIT.limitMs;
  for (;;) {
    const erasure = await read();
    const waits = open === 'finish' && erasure && erasure.covered.open_deliveries > 0;
    if (waits || erasure?.erased_at !== undefined || sharedNow() >= deadline) return erasure;
    await delay(WAIT.pollMs);
  }
}

/**
 * Payloads are erased by deleting the keys that they are encrypted with.
 *
 * @throws Problem 409 if they are not encrypted
 */
export function requireEncrypted({ encrypts }: PayloadSealer): void {
  if (!encrypts)
    throw new Problem(
      'payloads_not_encrypted',
      'Nothing was erased. Set HOOKLINE_PAYLOAD_KEYS ("hookline secret-key" makes a key): events that are accepted from then on can be erased.',
    );
}
