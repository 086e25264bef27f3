import type { Client } from '@temporalio/client';
import type { tellTime } from '../../../workflows/index.js';
import { UNITS } from '../../domain/basics/duration.js';
import { clockWorkflowId } from '../../domain/ledger/workflow-ids.js';
import { temporalClock } from '../../domain/time/shared-time.js';

/** A process that has just started is busy, and hears late of Temporal's time: it asks once more after this time. */
const AGAIN_MS = 3_000;

/**
 * Reads Temporal's time now, a little later, and once an hour.
 *
 * @param told is called after each reading, also after one that failed
 * @returns what ends that
 */
export function followTemporalTime(client: Client, taskQueue: string, told: () => void): () => void {
  const read = () => void readTemporalTime(client, taskQueue).then(told, told);
  read();
  const again = setTimeout(read, AGAIN_MS).unref();
  const hourly = setInterval(read, UNITS.h).unref();
  return () => {
    clearTimeout(again);
    clearInterval(hourly);
  };
}

/**
 * Reads Temporal's time. No call has it in its response, but an execution says when it was started: one that does
 * nothing, and of which there is one at a time.
 */
export async function readTemporalTime(client: Client, taskQueue: string): Promise<void> {
  const askedAt = performance.now();
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
  temporalClock.read(startTime.getTime(), askedAt);
}
