import type { DeliveryStatus } from '../../src/domain/delivery/delivery.js';
import { DELIVERY_TYPE } from '../../src/domain/ledger/workflow-ids.js';
import { deliveriesOf } from '../../src/temporal/read/delivery-view.js';
import { membersOf } from '../../src/temporal/read/group/group-memo.js';
import type { TemporalConnection } from '../../src/temporal/server/connection.js';
import { until } from './until.js';

/**
 * Deliveries on a task queue that Temporal has recorded as made. To be asked while no worker runs, so that nothing
 * changes.
 */
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
  for await (const execution of list('Completed'))
    if (execution.type === DELIVERY_TYPE) recorded += membersOf(execution).length;
  return recorded;
}

/** An account's deliveries on a task queue that have a status now, as lists show it. */
export async function countDeliveries(
  { client }: TemporalConnection,
  taskQueue: string,
  accountId: string,
  status: DeliveryStatus,
): Promise<number> {
  const query = `TaskQueue = '${taskQueue}' AND HooklineStatus IS NOT NULL AND ExecutionStatus = 'Running'`;
  let count = 0;
  for await (const execution of client.workflow.list({ query, pageSize: 1_000 }))
    count += deliveriesOf(execution, accountId).filter(({ summary }) => summary.status === status).length;
  return count;
}
