import { setTimeout as delay } from 'node:timers/promises';
import { recordScheduleId } from '../../../src/domain/ledger/workflow-ids.js';
import type { TemporalConnection } from '../../../src/temporal/server/connection.js';
import type { DoneAct } from '../check/collected.js';
import type { ActName } from '../plan/kinds.js';
import type { PlannedAct } from '../plan/plan.js';
import { type Answer, ask } from '../world/client.js';
import type { Producers } from '../world/producers.js';
import type { ChaosAccount, World } from '../world/world.js';

/** Tries of a request that gets no response, or 503, and the time between two in milliseconds. */
const TRIES = 20;
const AGAIN_MS = 1_000;
/** How long an endpoint or a delivery is paused. Milliseconds. */
const PAUSED_MS = 2_000;

/** Context of actions. */
export interface ActContext {
  world: World;
  producers: Producers;
  temporal: TemporalConnection;
  done: DoneAct[];
  /** Deliveries that were paused, with their accounts, to be resumed at the end. */
  paused: Map<string, string>;
}

type Act = (context: ActContext, pick: number) => Promise<unknown>;

const ACTS: Record<ActName, Act> = {
  async 'rotate-secret'(context, pick) {
    const { world } = context;
    const endpoint = picked(world.endpoints, pick);
    const known = world.secrets.get(endpoint?.path ?? '');
    // Five may sign at once.
    if (!endpoint || !known || known.length > 3) return;
    const { json } = await act(context, 'rotate-secret', endpoint.accountId, endpoint.id, [
      'POST',
      `/v18.0/endpoints/${endpoint.id}/secret/rotate`,
      { overlap: '1h' },
    ]);
    if (json?.secret) known.push(json.secret);
  },
  async 'pause-endpoint'(context, pick) {
    const endpoint = picked(context.world.endpoints, pick);
    if (!endpoint) return;
    const { accountId, id } = endpoint;
    await act(context, 'pause-endpoint', accountId, id, ['POST', `/v18.0/endpoints/${id}/pause`]);
    await delay(PAUSED_MS);
    await act(context, 'resume-endpoint', accountId, id, ['POST', `/v18.0/endpoints/${id}/resume`]);
  },
  'retry-now': (context, pick) => onDelivery(context, 'retry', 'status=retrying,parked', pick),
  cancel: (context, pick) => onDelivery(context, 'cancel', 'status=retrying,parked', pick),
  resend: (context, pick) => onDelivery(context, 'resend', 'open=false', pick),
  async 'pause-delivery'(context, pick) {
    const id = await onDelivery(context, 'pause', 'status=retrying,parked', pick);
    if (id === undefined) return;
    await delay(PAUSED_MS);
    const accountId = context.paused.get(id) ?? '';
    await act(context, 'resume', accountId, id, ['POST', `/v18.0/deliveries/${id}/resume`]);
  },
  async replay(context, pick) {
    const account = lasting(context, pick);
    const endpoint_id = picked(account?.endpointIds ?? [], pick * 7 - Math.floor(pick * 7));
    if (!account || !endpoint_id) return;
    const created_after = new Date(Date.now() - 10_000).toISOString();
    await act(context, 'replay', account.id, endpoint_id, [
      'POST',
      '/v18.0/replays',
      { mode: 'all', filter: { endpoint_id, created_after }, rate: 20, reason: 'chaos' },
    ]);
  },
  async 'erase-subject'(context, pick) {
    const account = lasting(context, pick);
    const known = context.producers.posted.filter(
      ({ accountId, acknowledgedMs }) => accountId === account?.id && acknowledgedMs !== undefined,
    );
    const subject = picked(known, pick)?.subject;
    if (!account || subject === undefined) return;
    await act(context, 'erase-subject', account.id, subject, [
      'POST',
      '/v18.0/subjects/erase',
      { subject, reason: 'chaos' },
    ]);
  },
  async 'keep-records'({ world, temporal }) {
    const schedule = temporal.client.schedule.getHandle(recordScheduleId(world.settings.HOOKLINE_TASK_QUEUE));
    await schedule.trigger().catch(() => {});
  },
  async 'delete-account'(context) {
    const account = context.world.accounts.find(({ name }) => name === 'leaving');
    if (!account) return;
    context.producers.leave(account.id);
    await act(
      context,
      'delete-account',
      account.id,
      account.id,
      ['DELETE', `/v18.0/accounts/${account.id}`],
      true,
    );
  },
};

/** Does an act of the plan. What comes of it is noted, whatever it is. */
export async function perform(context: ActContext, { name, pick }: PlannedAct): Promise<void> {
  await ACTS[name](context, pick);
}

let turn = 0;

/** Asks as the operator, through the networks that producers use, of one process after another. */
export function askSomeNode(
  { links, operatorKey }: World,
  account: string | undefined,
  method: string,
  path: string,
  body?: unknown,
): Promise<Answer> {
  turn += 1;
  const { port } = links.api[turn % links.api.length] ?? { port: 0 };
  return ask(`http://127.0.0.1:${port}`, operatorKey, method, path, {
    ...(body !== undefined && { body }),
    ...(account !== undefined && { account }),
  });
}

async function act(
  { world, done }: ActContext,
  name: string,
  accountId: string,
  resource: string,
  [method, path, body]: [method: string, path: string, body?: unknown],
  isOperators = false,
): Promise<Answer> {
  const entry: DoneAct = { name, atMs: Date.now(), status: 0, accountId, resource };
  done.push(entry);
  for (let tries = 1; ; tries += 1) {
    const answer = await askSomeNode(world, isOperators ? undefined : accountId, method, path, body);
    entry.status = answer.status;
    const isOpen = answer.status === 0 || answer.status === 429 || answer.status === 503;
    if (!isOpen || tries === TRIES) return answer;
    await delay(AGAIN_MS);
  }
}

/** @returns the delivery that it was done to */
async function onDelivery(
  context: ActContext,
  action: string,
  filter: string,
  pick: number,
): Promise<string | undefined> {
  const account = lasting(context, pick);
  if (!account) return undefined;
  const { json } = await askSomeNode(
    context.world,
    account.id,
    'GET',
    `/v18.0/deliveries?limit=50&${filter}`,
  );
  const id = picked((json?.data ?? []) as { id: string }[], pick)?.id;
  if (id === undefined) return undefined;
  if (action === 'pause') context.paused.set(id, account.id);
  await act(context, action, account.id, id, ['POST', `/v18.0/deliveries/${id}/${action}`]);
  return id;
}

/** An account that is not deleted on the way. */
function lasting({ world }: ActContext, pick: number): ChaosAccount | undefined {
  return picked(
    world.accounts.filter(({ name }) => name !== 'leaving'),
    pick,
  );
}

function picked<T>(all: readonly T[], pick: number): T | undefined {
  return all[Math.floor(pick * all.length)];
}
