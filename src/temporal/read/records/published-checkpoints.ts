import type { Client } from '@temporalio/client';
import type { keepRecords } from '../../../../workflows/index.js';
import type { KeepRecordsResult } from '../../../../workflows/keep-records.js';
import { EVERY_ACCOUNT, where } from '../visibility/query.js';
import { listExecutions } from '../visibility/visibility.js';

/**
 * The results of the latest runs that kept records, as Temporal has them: checkpoints are signed notes, which the
 * caller verifies.
 */
export async function latestRecordRuns(client: Client, taskQueue: string): Promise<KeepRecordsResult[]> {
  const clauses = where(EVERY_ACCOUNT, { taskQueue, type: 'keepRecords', status: 'Completed' });
  // Visibility may not have the latest yet, so that one is not all there is.
  const latest = await listExecutions(client, clauses, 3);
  return Promise.all(
    latest.map(({ workflowId, runId }) =>
      client.workflow.getHandle<typeof keepRecords>(workflowId, runId).result(),
    ),
  );
}

/** The checkpoints that these runs ended with. */
export async function publishedCheckpoints(client: Client, taskQueue: string): Promise<string[]> {
  const runs = await latestRecordRuns(client, taskQueue);
  return runs.flatMap(({ checkpoint }) => checkpoint ?? []);
}
