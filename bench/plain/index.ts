import { proxyActivities, workflowInfo } from '@temporalio/workflow';
import type { Activities } from '../../activities/index.js';
import { GroupMachine } from '../../src/domain/delivery/delivery-group.js';
import { type GroupInput, groupOf } from '../../src/domain/delivery/group-input.js';

/**
 * A delivery done the plain way: one regular activity, which the server retries. What most services on Temporal would
 * do.
 */
export async function deliver(group: GroupInput): Promise<void> {
  const input = groupOf(group);
  const { attemptReleased } = proxyActivities<Activities>({ startToCloseTimeout: '15s' });
  const { workflowId: workflow_id, runId: run_id, startTime } = workflowInfo();
  const machine = new GroupMachine(input, startTime.getTime());
  await attemptReleased({
    run: { workflow_id, run_id, started_at: startTime.toISOString() },
    turn: 1,
    settings: input,
    seed: machine.seed,
    orders: machine.orders(machine.firstAttempts),
    asked_at: Date.now(),
  });
}
