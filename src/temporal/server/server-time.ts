import type { Client } from '@temporalio/client';
import type { tellTime } from '../../../workflows/index.js';
import { clockWorkflowId } from '../../domain/ledger/workflow-ids.js';
import { temporalClock } from '../../domain/time/shared-time.js';

/**
 * Reads Temporal's time. No call has it in its response, but an execution says when it was started: one that does
 * nothing, and of which there is one at a time.
 */
export async function readTemporalTime(client: Client, taskQueue: string): Promise<void> {
  const handle = await client.workflow.start<typeof tellTime>('tellTime', {
    workflowId: clockWorkflowId(taskQueue),
    taskQueue,
    args: [],
    workflowIdConflictPolicy: 'TERMINATE_EXISTING',
    workflowRunTimeout: '1m',
  });
  const { startTime } = await client.workflow
    .getHandle(handle.workflowId, handle.firstExecutionRunId)
    .describe();
  temporalClock.read(startTime.getTime());
}
