import assert from 'node:assert/strict';
import { replayWorkflowId } from '../../../src/domain/ledger/workflow-ids.js';
import type { ReplayItem, ReplayPlan } from '../../../src/domain/replay/replay.js';
import type { replayDeliveries } from '../../../workflows/index.js';
import { connectLedger } from '../../support/parts/bare-ledger.js';
import { startStubWorker } from '../../support/parts/stub-worker.js';

/** At a rate of one a second each is an activity of its own. */
const ITEMS = 120;
const PAGE = 50;
/**
 * Stands in the input of every activity, so that the history soon has the 4 MiB from which Temporal suggests a new run.
 */
const LONG = 'x'.repeat(50_000);
const at = '2026-01-31T12:00:00.000Z';

describe('the workflow of a replay [world]', () => {
  it('continues in a new run when Temporal suggests it, where it was', async () => {
    const acted: string[] = [];
    const item = (index: number): ReplayItem => ({
      event_id: `evt_${String(index).padStart(26, '0')}`,
      endpoint_id: 'ep_00000000000000000000000000',
      run_id: 'run',
    });
    const { settings, temporal, close } = await connectLedger();
    const stop = await startStubWorker(temporal, settings.HOOKLINE_TASK_QUEUE, {
      async findForReplay({ cursor }) {
        const first = Number(cursor ?? 0);
        const items = Array.from({ length: Math.min(PAGE, ITEMS - first) }, (_, index) =>
          item(first + index),
        );
        return { items, gone: 0, up_to: at, ...(first + PAGE < ITEMS && { next: first + PAGE }) };
      },
      async actForReplay({ items }) {
        acted.push(...items.map(({ event_id }) => event_id));
        return items.map(({ event_id: id }) => ({ id, result: 'done' as const }));
      },
    });
    const plan: ReplayPlan = {
      account_id: 'acct_1',
      replay_id: 'rpl_1',
      action: 'resend',
      at,
      rate: 1,
      actor: { type: 'operator', id: LONG },
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
    assert.notEqual(last.runId, handle.firstExecutionRunId, 'it has continued');
    assert.deepEqual([state, found, done], ['finished', ITEMS, ITEMS]);
    assert.deepEqual(
      acted,
      Array.from({ length: ITEMS }, (_, index) => item(index).event_id),
    );
    assert.deepEqual(last.memo?.['progress'], {
      state: 'finished',
      found: ITEMS,
      done: ITEMS,
      skipped: 0,
      failed: 0,
      up_to: at,
    });
    await close();
  });
});
