import assert from 'node:assert/strict';
import { newId } from '../../../src/domain/basics/ids.js';
import { groupWorkflowId } from '../../../src/domain/ledger/workflow-ids.js';
import { handOver, releaseMembers } from '../../../workflows/messages.js';
import { answered } from '../../support/parts/answered.js';
import { startGroup } from '../../support/parts/start-group.js';
import { startStubWorker } from '../../support/parts/stub-worker.js';
import { startSystem, type TestSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

/** Signals that release nothing, until the history has the 4 MiB from which Temporal suggests a new run. */
const SIGNALS = 10;
const NO_ENDPOINT = 'x'.repeat(500_000);

describe('a group that continues in a new run', () => {
  let system: TestSystem;
  let stop: (() => Promise<void>) | undefined;
  before(async () => {
    system = await startSystem({ HOOKLINE_RETRY_SCHEDULE: '1h' }, 'api');
  });
  after(async () => {
    await stop?.();
    await system.stop();
  });

  it('still says which deliveries have left it, how the others stand, and when it began', async () => {
    stop = await startStubWorker(system.temporal, system.settings.HOOKLINE_TASK_QUEUE, {
      attemptGroup: async ({ deliveries }) => deliveries.map(() => answered(500)),
    });
    const endpoint_id = newId('endpoint');
    const now = Date.now();
    const account = { accountId: newId('account') };
    const { groupId, events } = await startGroup(system, account, endpoint_id, [now, now]);
    const group = system.temporal.client.workflow.getHandle(groupWorkflowId(groupId));
    const leaving = { event_id: events[0]?.event_id ?? '', endpoint_id, action: 'retry' as const };
    const seen = (name: string) =>
      until(
        () => group.describe(),
        ({ memo }) => memo?.[name] !== undefined,
      );
    // While the first attempts are in flight no delivery can leave.
    await seen('states');
    await group.executeUpdate(handOver, { args: [leaving] });
    const first = await seen('handed_over');
    for (let count = 0; count < SIGNALS; count += 1)
      await group.signal(releaseMembers, { endpoint_id: NO_ENDPOINT });
    const next = await until(
      async () => {
        // A task is what Temporal suggests it with.
        await group.signal(releaseMembers, { endpoint_id: 'ep_none' });
        return group.describe();
      },
      ({ runId }) => runId !== first.runId,
    );
    assert.deepEqual(next.memo, { ...first.memo, created_at: first.startTime.toISOString() });
  });
});
