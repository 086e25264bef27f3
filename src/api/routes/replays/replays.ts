import { z } from 'zod';
import { isId, newId } from '../../../domain/basics/ids.js';
import { resourceName } from '../../../domain/change/change.js';
import { notFound, Problem } from '../../../domain/http/problem.js';
import type { ReplayPlan } from '../../../domain/replay/replay.js';
import { previewReplay } from '../../../temporal/read/replay/replay-preview.js';
import type { ReplayDefinition } from '../../../temporal/read/replay/replay-reader.js';
import { invalidRequest } from '../../http/body.js';
import type { ApiDependencies, Context } from '../../http/context.js';
import { renderLedgerPage } from '../../http/ledger-paging.js';
import { type Operation, operation, pathTo } from '../../http/operation.js';
import { actBody, originOf, recordedAct } from '../../http/origin.js';
import { pagingParameters } from '../../http/paging.js';
import { pageOf } from '../../http/schemas.js';
import { contradictions, periodOf, type ReplayBody, replayBody } from './replay-body.js';
import { previewSchema, replaySchema } from './replay-view.js';

const ACTIONS = {
  pause: 'Pause a replay: it acts on nothing more until it is resumed',
  resume: 'Resume a paused replay',
  cancel: 'Cancel a replay: it acts on nothing more; what it has done stays',
} as const;

/** What is recorded of them. */
const DONE = { pause: 'paused', resume: 'resumed', cancel: 'cancelled' } as const;

/** Replays: acts on many deliveries at once. */
export function replayOperations(dependencies: ApiDependencies): Operation[] {
  const { database, replays, replayReader, replaySources } = dependencies;

  const find = async (accountId: string, id: string) => {
    const replay = isId('replay', id) ? await replayReader.get(accountId, id) : undefined;
    if (!replay) throw notFound('replay', id);
    return replay;
  };

  return [
    operation({
      method: 'post',
      path: '/replays',
      id: 'createReplay',
      summary: 'Send many deliveries again, or retry, cancel or resume many open ones',
      scope: 'deliveries:write',
      body: replayBody,
      example: {
        mode: 'failed',
        filter: { endpoint_id: 'ep_01M7Y2TZZ9K3C5R4Q0V8W1XHPN', created_after: '2026-11-21T09:00:00Z' },
        rate: 50,
        dry_run: true,
      },
      responses: {
        200: { description: 'Of a dry run: what it would do', schema: previewSchema },
        202: { description: 'The replay is persisted, and goes on by itself', schema: replaySchema },
      },
      problems: ['replay_limit_reached'],
      async handle(ctx, { body }) {
        const { plan, definition } = await prepare(dependencies, ctx, body);
        if (body.dry_run) {
          ctx.body = { dry_run: true, ...(await previewReplay(replaySources, plan)) };
          return;
        }
        const { account_id, replay_id: id } = plan;
        const created = {
          resource: resourceName('replay', id),
          action: 'created',
          reason: body.reason,
          after: JSON.stringify(definition),
        } as const;
        const replay = await recordedAct(database.changes, ctx, created, async () => {
          await replays.start(plan, definition);
          return find(account_id, id);
        });
        ctx.status = 202;
        ctx.set('location', pathTo(ctx, '/replays/:id', { id }));
        ctx.body = replay;
      },
    }),

    operation({
      method: 'get',
      path: '/replays',
      id: 'listReplays',
      summary: 'List replays: open ones first, then the latest closed',
      scope: 'deliveries:read',
      query: z.strictObject(pagingParameters),
      responses: {
        200: {
          description: 'A page of replays; a new one is listed after about a second',
          schema: pageOf(replaySchema),
        },
      },
      problems: [],
      async handle(ctx, { query: { limit, after } }) {
        const { account_id } = ctx.state.caller;
        ctx.body = await renderLedgerPage(ctx, database, 'replays', after, (from) =>
          replayReader.list(account_id, limit, from),
        );
      },
    }),

    operation({
      method: 'get',
      path: '/replays/:id',
      id: 'getReplay',
      summary: 'Read how far a replay is',
      scope: 'deliveries:read',
      responses: { 200: { description: 'The replay', schema: replaySchema } },
      problems: [],
      async handle(ctx, { params: { id = '' } }) {
        ctx.body = await find(ctx.state.caller.account_id, id);
      },
    }),

    ...(['pause', 'resume', 'cancel'] as const).map((action) =>
      operation({
        method: 'post',
        path: `/replays/:id/${action}`,
        id: `${action}Replay`,
        summary: ACTIONS[action],
        scope: 'deliveries:write',
        body: actBody,
        bodyIsOptional: true,
        responses: { 200: { description: 'The replay after the action', schema: replaySchema } },
        problems: ['replay_state_conflict'],
        async handle(ctx, { params: { id = '' }, body: { reason } }) {
          const { account_id, id: by } = ctx.state.caller;
          const replay = await find(account_id, id);
          const change = { resource: resourceName('replay', id), action: DONE[action], reason };
          const progress = await recordedAct(database.changes, ctx, change, (name) =>
            replays.act(action, account_id, id, by, name),
          );
          if (!progress)
            throw new Problem(
              'replay_state_conflict',
              `The replay is over: ${(await find(account_id, id)).state}.`,
            );
          ctx.body = { ...replay, ...progress };
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
): Promise<{ plan: ReplayPlan; definition: ReplayDefinition }> {
  const now = Date.now();
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
  const { address: _address, ...origin } = originOf(ctx);
  const at = new Date(now).toISOString();
  const what = {
    action,
    ...(action === 'resend' && { mode }),
    ...(isMissed && { registration: as_of?.toISOString() ?? registration }),
  };
  const shared = withoutAbsent({ endpoint_id, ...others });
  return {
    plan: {
      account_id,
      replay_id: newId('replay', now),
      ...what,
      filter: { ...shared, ...withoutAbsent({ key_token, statuses: status }), ...period },
      at,
      rate,
      origin: { ...origin, ...(reason !== undefined && { reason }) },
    },
    definition: {
      ...what,
      // The value of a business key stands nowhere in Temporal.
      filter: { ...shared, ...withoutAbsent({ key: key?.name, status }), ...period },
      rate,
      by: origin.actor.id,
      ...(reason !== undefined && { reason }),
      created_at: at,
    },
  };
}

function withoutAbsent<T extends object>(fields: T): { [Name in keyof T]?: Exclude<T[Name], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}
