import mongoose from 'mongoose';
import type { DeliveryStatus } from '../../src/domain/delivery/delivery.js';
import { DELIVERY_TYPE } from '../../src/domain/ledger/workflow-ids.js';
import { readMembers } from '../../src/temporal/read/group-members.js';
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
    if (execution.type === DELIVERY_TYPE) recorded += (await readMembers(client, execution)).length;
  return recorded;
}

/** Open deliveries of an account that have a status now. */
export async function countDeliveries(
  mongodbUri: string,
  account_id: string,
  status: DeliveryStatus,
): Promise<number> {
  const connection = await mongoose.createConnection(mongodbUri).asPromise();
  try {
    return await connection.collection('deliveries').countDocuments({ account_id, status });
  } finally {
    await connection.close();
  }
}
