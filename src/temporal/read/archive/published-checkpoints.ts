import type { Client } from '@temporalio/client';
import type { archiveDeliveries } from '../../../../workflows/index.js';
import { equals } from '../visibility/query.js';
import { listExecutions } from '../visibility/visibility.js';

/** Runs whose results are read: visibility may not have the latest yet, so that one is not all there is. */
const RUNS = 3;

/** The checkpoints that the latest runs of the archive ended with, as Temporal keeps them: signed notes, which the caller verifies. */
export async function publishedCheckpoints(client: Client, taskQueue: string): Promise<string[]> {
  const clauses = [
    equals('TaskQueue', taskQueue),
    equals('WorkflowType', 'archiveDeliveries'),
    equals('ExecutionStatus', 'Completed'),
  ];
  const { data } = await listExecutions(client, clauses, RUNS, undefined);
  const results = await Promise.all(
    data.map(({ workflowId, runId }) =>
      client.workflow.getHandle<typeof archiveDeliveries>(workflowId, runId).result(),
    ),
  );
  return results.flatMap(({ checkpoint }) => checkpoint ?? []);
}
