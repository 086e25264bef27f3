import assert from 'node:assert/strict';
import { deliveryId } from '../../../src/domain/basics/delivery-id.js';
import { newId } from '../../../src/domain/basics/ids.js';
import { groupWorkflowId } from '../../../src/domain/ledger/workflow-ids.js';
import { readGroupRecords } from '../../../src/temporal/read/group/group-records.js';
import { act, release } from '../../../workflows/messages.js';
import { answered } from '../../support/parts/answered.js';
import { connectLedger } from '../../support/parts/bare-ledger.js';
import { startGroup } from '../../support/parts/start-group.js';
import { startStubWorker } from '../../support/parts/stub-worker.js';
import { until } from '../../support/until.js';

/** Signals that release nothing, until the history has the 4 MiB from which Temporal suggests a new run. */
const SIGNALS = 10;
const NO_ENDPOINT = 'x'.repeat(500_000);

describe('a group that continues in a new run', () => {
  let system: Awaited<ReturnType<typeof connectLedger>>;
  let stop: (() => Promise<void>) | undefined;
  before(async () => {
    system = await connectLedger();
  });
  after(async () => {
    await stop?.();
    await system.close();
  });

  it('still says how its deliveries stand, what was done to them, and when it began [world]', async () => {
    stop = await startStubWorker(system.temporal, system.settings.HOOKLINE_TASK_QUEUE, {
      attemptFirst: async ({ deliveries }) => deliveries.map(() => answered(500)),
    });
    const endpoint_id = newId('endpoint');
    const now = Date.now();
    const account = { accountId: newId('account') };
    const { groupId, events } = await startGroup(system, account, endpoint_id, [now, now]);
    const group = system.temporal.client.workflow.getHandle(groupWorkflowId(groupId));
    const seen = (is: (states: string) => boolean) =>
      until(
        () => group.describe(),
        ({ memo }) => is(JSON.stringify(memo?.['states'] ?? '')),
      );
    // While the first attempts are in flight nothing can be done.
    await seen((states) => states.includes('retrying'));
    const delivery = deliveryId({ event_id: events[0]?.event_id ?? '', endpoint_id });
    await group.executeUpdate(act, { args: [{ action: 'pause', delivery, by: 'somebody' }] });
    const first = await seen((states) => states.includes('paused'));
    const before = await readGroupRecords(system.temporal.client, first);
    for (let count = 0; count < SIGNALS; count += 1)
      await group.signal(release, { endpoint_id: NO_ENDPOINT });
    const next = await until(
      async () => {
        // A task is what Temporal suggests it with.
        await group.signal(release, { endpoint_id: 'ep_none' });
        return group.describe();
      },
      ({ runId }) => runId !== first.runId,
    );
    assert.deepEqual(next.memo, { ...first.memo, created_at: first.startTime.toISOString() });
    assert.deepEqual(await readGroupRecords(system.temporal.client, next), before);
  });
});
