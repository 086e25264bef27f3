import type { Client } from '@temporalio/client';
import type { archiveDeliveries } from '../../../../workflows/index.js';
import { EVERY_ACCOUNT, where } from '../visibility/clauses.js';
import { listExecutions } from '../visibility/visibility.js';

/**
 * The checkpoints that the latest runs of the archive ended with, as Temporal keeps them: signed notes, which the
 * caller verifies.
 */
export async function publishedCheckpoints(client: Client, taskQueue: string): Promise<string[]> {
  const clauses = where(EVERY_ACCOUNT, { taskQueue, type: 'archiveDeliveries', status: 'Completed' });
  // Visibility may not have the latest yet, so that one is not all there is.
  const { data } = await listExecutions(client, clauses, 3);
  const results = await Promise.all(
    data.map(({ workflowId, runId }) =>
      client.workflow.getHandle<typeof archiveDeliveries>(workflowId, runId).result(),
    ),
  );
  return results.flatMap(({ checkpoint }) => checkpoint ?? []);
}
