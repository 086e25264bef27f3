import { z } from 'zod';
import { newId } from '../../../domain/basics/ids.js';
import { present } from '../../../domain/basics/objects.js';
import { resourceName } from '../../../domain/change/change.js';
import { Problem } from '../../../domain/http/problem.js';
import {
  REPLAY_ACTIONS,
  REPLAY_MODES,
  REPLAY_STATES,
  type ReplayDefinition,
  type ReplayInput,
  type ReplayPlan,
} from '../../../domain/replay/replay.js';
import { sharedNow } from '../../../domain/time/shared-time.js';
import { previewReplay } from '../../../temporal/read/replay/replay-preview.js';
import type { ApiDependencies, Context } from '../../http/context.js';
import { found } from '../../http/found.js';
import { ledgerPage } from '../../http/ledger-paging.js';
import { type Operation, operation, pathTo } from '../../http/operation.js';
import { actBody, originOf, recordedAct } from '../../http/origin.js';
import { listOperation } from '../../http/paging.js';
import { timeSchema as time } from '../../http/schemas.js';
import { invalidRequest } from '../../http/validation.js';
import { contradictions, periodOf, type ReplayBody, replayBody } from './replay-body.js';

/** Actions on a replay, and the records of them. */
const ACTS = [
  ['pause', 'paused', 'Pause a replay until it is resumed'],
  ['resume', 'resumed', 'Resume a paused replay'],
  ['cancel', 'cancelled', 'Cancel a replay; deliveries that it has already acted on stay as they are'],
] as const;

const count = z.int();
const sample = z.array(z.string()).describe('The first ids, at most 10');
const counted = z.object({ count, sample });

const replaySchema = z
  .object({
    id: z.string(),
    state: z
      .enum(REPLAY_STATES)
      .optional()
      .describe('Absent while the replay is open and Temporal is unavailable, as are the counts'),
    action: z.enum(REPLAY_ACTIONS),
    mode: z.enum(REPLAY_MODES).optional(),
    registration: z.string().optional().describe('For missed: now, then, or the time of as_of'),
    filter: z
      .record(z.string(), z.unknown())
      .describe(
        'As requested, with the name of a business key only. created_after and created_before are the period',
      ),
    rate: z.int().describe('Deliveries per second, at most'),
    found: count
      .optional()
      .describe('Deliveries found so far: done, skipped, failed, and those that come next'),
    done: count.optional(),
    skipped: count
      .optional()
      .describe('Their state changed after they were selected, or their endpoint was deleted'),
    failed: count.optional().describe('Temporal refused, or the payload is no longer kept'),
    failures: z
      .array(z.object({ id: z.string(), detail: z.string() }))
      .optional()
      .describe('The first failures, at most 10'),
    up_to: time.optional().describe('Up to when events have been looked through'),
    interventions: z
      .array(z.object({ action: z.enum(['pause', 'resume', 'cancel']), at: time, by: z.string() }))
      .optional(),
    by: z.string().describe('Initiator: an API key or OAuth client'),
    reason: z.string().optional(),
    created_at: time,
    closed_at: time.optional(),
    workflow_id: z.string(),
    run_id: z.string(),
  })
  .meta({ id: 'Replay' });

const previewSchema = z
  .object({
    dry_run: z.literal(true),
    found: count.describe('Deliveries that it would find'),
    skipped: count.describe('Those of them whose endpoint was deleted'),
    sample,
    complete: z
      .boolean()
      .describe(
        'false: there are more, because counting took too long; up_to is the time up to which events were counted',
      ),
    up_to: time,
    never_sent: count.optional().describe('For missed: those of found that the endpoint never had'),
    difference: z
      .object({
        compared_with: z.string().describe('The other registration: then, or now'),
        added: counted.describe('Events that the other registration does not select'),
        left_out: counted.describe('Events that only the other registration selects'),
      })
      .optional()
      .describe(
        'For missed: the effect of the choice of the registration, among events that the endpoint never got',
      ),
  })
  .meta({ id: 'ReplayPreview' });

/** Replays: acts on many deliveries at once. */
export function replayOperations(dependencies: ApiDependencies): Operation[] {
  const { database, replays, replayReader, replaySources } = dependencies;

  const find = (accountId: string, id: string) => found('replay', id, () => replayReader.get(accountId, id));

  return [
    operation('post', '/replays', 'createReplay', {
      summary: 'Resend many closed deliveries, or retry, cancel or resume many open ones',
      scope: 'deliveries:write',
      body: replayBody,
      example: {
        mode: 'failed',
        filter: { endpoint_id: 'ep_01M7Y2TZZ9K3C5R4Q0V8W1XHPN', created_after: '2026-11-21T09:00:00Z' },
        rate: 50,
        dry_run: true,
      },
      responses: {
        200: { description: 'The plan, for a dry run', schema: previewSchema },
        202: { description: 'The replay is stored and runs by itself', schema: replaySchema },
      },
      problems: ['replay_limit_reached'],
      async handle({ body }, ctx) {
        const { plan, input, definition } = await prepare(dependencies, ctx, body);
        if (body.dry_run) {
          return {
            dry_run: true,
            ...(await previewReplay(replaySources, { ...plan, filter: input.filter })),
          };
        }
        const { account_id, replay_id: id } = plan;
        const created = {
          resource: resourceName('replay', id),
          action: 'created',
          reason: body.reason,
          after: JSON.stringify(definition),
        } as const;
        const replay = await recordedAct(database.changes, ctx, created, async () => {
          await replays.start(plan, { definition, input });
          return find(account_id, id);
        });
        ctx.status = 202;
        ctx.set('location', pathTo(ctx, '/replays/:id', { id }));
        return replay;
      },
    }),

    listOperation('/replays', 'listReplays', {
      summary: 'List replays: open ones first, then the latest closed',
      scope: 'deliveries:read',
      page: ['A page of replays', replaySchema],
      read: ({ account_id, query: { limit, after } }) =>
        ledgerPage(database, 'replays', account_id, after, (from) =>
          replayReader.list(account_id, limit, from),
        ),
    }),

    operation('get', '/replays/:id', 'getReplay', {
      summary: 'Read how far a replay is',
      scope: 'deliveries:read',
      responses: { 200: { description: 'The replay', schema: replaySchema } },
      handle: ({ account_id, params: { id } }) => find(account_id, id),
    }),

    ...ACTS.map(([action, done, summary]) =>
      operation('post', `/replays/:id/${action}`, `${action}Replay`, {
        summary,
        scope: 'deliveries:write',
        body: actBody,
        bodyIsOptional: true,
        responses: { 200: { description: 'The replay after the action', schema: replaySchema } },
        problems: ['replay_state_conflict'],
        async handle({ account_id, params: { id }, body: { reason } }, ctx) {
          const replay = await find(account_id, id);
          const change = { resource: resourceName('replay', id), action: done, reason };
          const progress = await recordedAct(database.changes, ctx, change, (name) =>
            replays.act(action, account_id, id, ctx.state.caller.id, name),
          );
          if (!progress)
            throw new Problem(
              'replay_state_conflict',
              `The replay is over: ${(await find(account_id, id)).state}.`,
            );
          return { ...replay, ...progress };
        },
      }),
    ),
  ];
}

/** The replay that a body asks for. @throws Problem for what does not go together */
async function prepare(
  { database, registrations }: ApiDependencies,
  ctx: Context,
  body: ReplayBody,
): Promise<{ plan: ReplayPlan; input: ReplayInput; definition: ReplayDefinition }> {
  const now = sharedNow();
  const errors = contradictions(body, now);
  if (errors.length > 0) throw invalidRequest(errors);
  const { action, mode = 'failed', filter, rate, reason, as_of, registration = 'now' } = body;
  const { account_id } = ctx.state.caller;
  const { endpoint_id, key, status, created_after: _, created_before: __, ...others } = filter;
  const isMissed = action === 'resend' && mode === 'missed';
  if (isMissed && endpoint_id) {
    if (!(await registrations.now(account_id, endpoint_id)))
      throw invalidRequest([
        { pointer: '/filter/endpoint_id', detail: 'must be an endpoint of the account' },
      ]);
    if (as_of && !(await registrations.at(account_id, endpoint_id, as_of)))
      throw invalidRequest([
        {
          pointer: '/as_of',
          detail: 'must be a time at which the endpoint existed, and of which changes are kept',
        },
      ]);
  }
  const [key_token] = await database.keySecrets.tokensOf(account_id, key ? [key] : []);
  const { from, to } = periodOf(body, now);
  const period = { created_after: from.toISOString(), created_before: to.toISOString() };
  const { address: _address, actor, ...request } = originOf(ctx);
  const at = new Date(now).toISOString();
  const what = {
    action,
    ...(action === 'resend' && { mode }),
    ...(isMissed && { registration: as_of?.toISOString() ?? registration }),
  };
  const shared = present({ endpoint_id, ...others });
  return {
    plan: {
      account_id,
      replay_id: newId('replay', now),
      ...what,
      at,
      rate,
      actor,
    },
    input: {
      filter: { ...shared, ...present({ key_token, statuses: status }), ...period },
      from: { ...request, ...(reason !== undefined && { reason }) },
    },
    definition: {
      ...what,
      // The value of a business key is shown nowhere.
      filter: { ...shared, ...present({ key: key?.name, status }), ...period },
      rate,
      by: actor.id,
      ...(reason !== undefined && { reason }),
      created_at: at,
    },
  };
}
