import { z } from 'zod';
import { Problem } from '../../../domain/http/problem.js';
import { type ApiDependencies, type Context, ownerOf } from '../../http/context.js';
import { knownProblem, outOfReach } from '../../http/middleware/problems.js';
import { type Operation, operation } from '../../http/operation.js';
import { problemDocument } from '../../http/problems/document.js';
import { problemSchema } from '../../http/schemas.js';
import { acceptEach, acceptTogether, type BatchOutcome, placesIn } from './accept-batch.js';
import { type Batch, batchBody, MAX_BATCH_BYTES, MAX_BATCH_EVENTS, readBatch } from './batch-body.js';
import { acceptanceSchema, renderAcceptance } from './event-view.js';

const resultSchema = z
  .object({
    status: z.int().describe('202: the event is accepted. Otherwise that of the problem'),
    event: acceptanceSchema.optional().describe('Absent if it is not accepted'),
    problem: problemSchema.optional().describe('Why it is not accepted; pointers are into the request'),
  })
  .meta({ id: 'BatchResult' });

/** Several events in one request. */
export function batchOperations(dependencies: ApiDependencies): Operation[] {
  return [
    operation('post', '/events', 'acceptEvents', {
      summary: `Accept up to ${MAX_BATCH_EVENTS} events, all or none, or each by itself`,
      scope: 'events:write',
      body: batchBody,
      readBody: readBatch,
      example: {
        events: [
          { kind: 'purchase', payload: PURCHASE, idempotency_key: 'order-1001' },
          { kind: 'purchase', payload: { ...PURCHASE, order_id: '1002' }, idempotency_key: 'order-1002' },
        ],
      },
      responses: {
        202: {
          description: `The request, of at most ${MAX_BATCH_BYTES / 1024 / 1024} MiB, was processed: what became of each event`,
          schema: z
            .object({
              accepted: z.int().describe('Events that are stored'),
              refused: z.int(),
              results: z.array(resultSchema).describe('In the order of the events'),
            })
            .meta({ id: 'BatchAcceptance', examples: [{ accepted: 1, refused: 0, results: [ACCEPTED] }] }),
        },
      },
      problems: [
        'invalid_payload',
        'payload_too_complex',
        'unknown_event_kind',
        'idempotency_conflict',
        'record_altered',
      ],
      async handle({ body }, ctx) {
        const { mode, events } = body as unknown as Batch;
        if (events.length > 1) ctx.state.countEvents?.(events.length - 1);
        const accept = mode === 'each' ? acceptEach : acceptTogether;
        const outcomes = await accept(dependencies, ownerOf(ctx), events);
        const results = outcomes.map((outcome, index) => resultOf(dependencies, ctx, outcome, index));
        const accepted = results.filter(({ status }) => status === 202).length;
        return { accepted, refused: results.length - accepted, results };
      },
    }),
  ];
}

const [acceptance] = (acceptanceSchema.meta()?.['examples'] ?? []) as unknown[];
const ACCEPTED = { status: 202, event: acceptance };
const PURCHASE = {
  order_id: '1001',
  customer_email: 'ada@example.com',
  total: 12.5,
  items: [{ name: 'Notebook', qty: 2 }],
  created_at: '2026-01-31T12:00:00Z',
};

function resultOf(
  { isUnavailable, publicUrl }: Pick<ApiDependencies, 'isUnavailable' | 'publicUrl'>,
  ctx: Context,
  outcome: BatchOutcome,
  index: number,
) {
  if ('kept' in outcome) return { status: 202, event: renderAcceptance(outcome.checked.kind, outcome.kept) };
  const { error } = outcome;
  const problem = knownProblem(error) ?? (isUnavailable(error) ? outOfReach(ctx) : undefined);
  // A fault of ours is answered, and logged, as such.
  if (!problem) throw error;
  const { code, message, headers } = problem;
  const errors = problem.status < 500 ? placesIn(problem, index) : [];
  const placed = new Problem(code, message, { errors, headers });
  return { status: problem.status, problem: problemDocument(placed, publicUrl, ctx.state.request_id) };
}
