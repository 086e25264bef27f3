import assert from 'node:assert/strict';
import { replayWorkflowId } from '../../../src/domain/ledger/workflow-ids.js';
import type { ReplayItem, ReplayPlan } from '../../../src/domain/replay/replay.js';
import type { replayDeliveries } from '../../../workflows/index.js';
import { connectLedger } from '../../support/parts/bare-ledger.js';
import { startStubWorker } from '../../support/parts/stub-worker.js';

const PAGE = 50;
/**
 * Stands in the input of every activity, so that the history soon has the 4 MiB from which Temporal suggests a new run.
 */
const LONG = 'x'.repeat(50_000);
const at = '2026-01-31T12:00:00.000Z';

/** Event of an item. */
const eventOf = (index: number) => `evt_${String(index).padStart(26, '0')}`;

/** Runs a replay of some items to its end. @returns what was acted on, together */
async function run(items: number, rate: number, by: string) {
  const acted: string[][] = [];
  const item = (index: number): ReplayItem => ({
    event_id: eventOf(index),
    endpoint_id: 'ep_00000000000000000000000000',
    run_id: 'run',
  });
  const { settings, temporal, close } = await connectLedger();
  const stop = await startStubWorker(temporal, settings.HOOKLINE_TASK_QUEUE, {
    async findForReplay({ cursor }) {
      const first = Number(cursor ?? 0);
      const page = Array.from({ length: Math.min(PAGE, items - first) }, (_, index) => item(first + index));
      return { items: page, gone: 0, up_to: at, ...(first + PAGE < items && { next: first + PAGE }) };
    },
    async actForReplay({ items }) {
      acted.push(items.map(({ event_id }) => event_id));
      return items.map(({ event_id: id }) => ({ id, result: 'done' as const }));
    },
  });
  const plan: ReplayPlan = {
    account_id: 'acct_1',
    replay_id: 'rpl_1',
    action: 'resend',
    ...{ at, rate, actor: { type: 'operator', id: by } },
  };
  const workflowId = replayWorkflowId('acct_1', settings.HOOKLINE_TASK_QUEUE);
  const handle = await temporal.client.workflow.start<typeof replayDeliveries>('replayDeliveries', {
    workflowId,
    taskQueue: settings.HOOKLINE_TASK_QUEUE,
    args: [{ plan }],
  });
  const { done, found, state } = await handle.result();
  await stop();
  const last = await temporal.client.workflow.getHandle(workflowId).describe();
  await close();
  assert.deepEqual([state, found, done], ['finished', items, items]);
  const counts = { found: items, done: items, skipped: 0, failed: 0 };
  assert.deepEqual(last.memo?.['progress'], { state: 'finished', ...counts, up_to: at });
  assert.deepEqual(
    acted.flat(),
    Array.from({ length: items }, (_, index) => eventOf(index)),
  );
  return { acted, hasContinued: last.runId !== handle.firstExecutionRunId };
}

describe('the workflow of a replay', () => {
  it('acts on each delivery once, page by page, on as many together as its rate allows', async () => {
    const { acted } = await run(PAGE + 1, 20, 'ada');
    assert.deepEqual(
      acted.map(({ length }) => length),
      [20, 20, 10, 1],
    );
  });

  it('continues in a new run when Temporal suggests it, where it was [world]', async () => {
    const { hasContinued } = await run(120, 1, LONG);
    assert.ok(hasContinued);
  });
});
