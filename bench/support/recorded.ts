import { GROUP_TYPES } from '../../src/domain/ledger/workflow-ids.js';
import type { GroupMemo } from '../../src/temporal/read/group/group-memo.js';
import type { TemporalConnection } from '../../src/temporal/server/connection.js';
import { until } from './until.js';

/** Deliveries on a task queue that Temporal has recorded as made. To be asked while no worker runs, so that nothing changes. */
export async function countRecorded({ client }: TemporalConnection, taskQueue: string): Promise<number> {
  const { workflow } = client;
  const list = (status: string) =>
    workflow.list({ query: `TaskQueue = '${taskQueue}' AND ExecutionStatus = '${status}'` });
  const hasVisibilityCaughtUp = async () => {
    for await (const { workflowId } of list('Running')) {
      if ((await workflow.getHandle(workflowId).describe()).status.name !== 'RUNNING') return false;
    }
    return true;
  };
  await until(hasVisibilityCaughtUp);
  let recorded = 0;
  for await (const { type, memo } of list('Completed')) {
    if (GROUP_TYPES.includes(type)) recorded += (memo as unknown as GroupMemo).members.length;
    if (type === 'deliverEvent') recorded += 1;
  }
  return recorded;
}
