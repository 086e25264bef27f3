import { replayWorkflowId } from '../../../src/domain/ledger/workflow-ids.js';
import type { ReplayPlan } from '../../../src/domain/replay/replay.js';
import type { replayDeliveries } from '../../../workflows/index.js';
import { listed, purchases, readReplay, replay } from '../../support/parts/replays.js';
import { until } from '../../support/until.js';
import { execution, firstRun, type Run, type Scenarios, type Stage } from './stage.js';

/** Every way through the workflow that acts on many deliveries. */
export const REPLAYS: Scenarios = {
  'replay-deliveries-kept': {
    async play(stage) {
      await delivered(stage, 2);
      return over(stage, (await replay(stage.client, { mode: 'all', rate: 10 })).id);
    },
  },
  'replay-deliveries-continued': {
    suggestAfter: 20,
    async play(stage) {
      await delivered(stage, 12);
      return firstRun(stage, await over(stage, (await replay(stage.client, { mode: 'all', rate: 3 })).id));
    },
  },
  'replay-deliveries-paused-resumed-and-cancelled': {
    async play(stage) {
      await delivered(stage, 6);
      const { id } = await replay(stage.client, { mode: 'all', rate: 1 });
      await untilDone(stage, id, 1);
      await act(stage, id, 'pause');
      const { done } = await readReplay(stage.client, id);
      await act(stage, id, 'resume');
      await untilDone(stage, id, done + 1);
      await act(stage, id, 'cancel');
      return over(stage, id);
    },
  },
  'replay-deliveries-cancelled-in-temporal': {
    async play(stage) {
      await delivered(stage, 5);
      const { id } = await replay(stage.client, { mode: 'all', rate: 1 });
      await untilDone(stage, id, 1);
      await handle(stage, id).cancel();
      return over(stage, id);
    },
  },
  'replay-deliveries-cancelled-while-paused': {
    async play(stage) {
      await delivered(stage, 3);
      const { id } = await replay(stage.client, { mode: 'all', rate: 1 });
      await act(stage, id, 'pause');
      await handle(stage, id).cancel();
      return over(stage, id);
    },
  },
  'replay-deliveries-carried-on': {
    async play(stage) {
      const { system, client } = stage;
      const at = new Date().toISOString();
      const id = 'rpl_01J00000000000000000000000';
      const plan: ReplayPlan = {
        account_id: client.accountId,
        replay_id: id,
        action: 'resend',
        mode: 'all',
        at,
        rate: 10,
        actor: { type: 'api_key', id: client.keyId },
      };
      const progress = { state: 'running', found: 7, done: 6, skipped: 0, failed: 0 } as const;
      const item = {
        event_id: 'evt_01J00000000000000000000000',
        endpoint_id: 'ep_01J00000000000000000000000',
        run_id: '00000000-0000-0000-0000-000000000000',
      };
      await system.temporal.client.workflow.start<typeof replayDeliveries>('replayDeliveries', {
        workflowId: replayWorkflowId(client.accountId, id),
        taskQueue: system.settings.HOOKLINE_TASK_QUEUE,
        args: [{ plan, so_far: { progress, items: [item], is_last: true } }],
      });
      return over(stage, id);
    },
  },
};

async function delivered({ client, receiver }: Stage, count: number): Promise<void> {
  await client.register(receiver.url);
  await purchases(client, count);
  await listed(client, 'status=delivered', count);
}

async function act({ client }: Stage, id: string, action: string): Promise<void> {
  const answer = await client.request('POST', `/v18.0/replays/${id}/${action}`);
  if (answer.status !== 200) throw new Error(`${action}: ${answer.text}`);
}

function untilDone({ client }: Stage, id: string, count: number): Promise<unknown> {
  return until(
    () => readReplay(client, id),
    ({ done }) => done >= count,
  );
}

function handle({ system, client }: Stage, id: string) {
  return system.temporal.client.workflow.getHandle(replayWorkflowId(client.accountId, id));
}

function over(stage: Stage, id: string): Promise<Run> {
  return execution(stage, replayWorkflowId(stage.client.accountId, id));
}
