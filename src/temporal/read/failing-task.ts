import type { Client } from '@temporalio/client';
import proto from '@temporalio/proto';
import type { FailingTask } from '../../domain/explain/failing-task.js';
import { unlessGone } from '../errors.js';
import { eventsOf, type HistoryEvent, isoTimeOf, type Run } from './history.js';

const { TIMEOUT_TYPE_START_TO_CLOSE } = proto.temporal.api.enums.v1.TimeoutType;
const { WORKFLOW_TASK_FAILED_CAUSE_RESET_WORKFLOW: RESET } =
  proto.temporal.api.enums.v1.WorkflowTaskFailedCause;

/**
 * The workflow task that is open in a run, if it has failed; `undefined` if it has not, or there is none.
 *
 * @param run without a run id its latest run
 *
 * Temporal counts tries from one again whenever something happens, such as a signal, and after a failure on the worker
 * that had the execution in its cache. So its number alone would hide that an execution which is sent signals never
 * goes on.
 */
export async function readFailingTask(client: Client, run: Run): Promise<FailingTask | undefined> {
  const described = await unlessGone(client.workflow.getHandle(run.workflowId, run.runId).describe());
  if (!described?.raw.pendingWorkflowTask) return undefined;
  const attempt = described.raw.pendingWorkflowTask.attempt ?? 1;
  let failed: string[] = [];
  for await (const event of eventsOf(client, { ...run, runId: described.runId })) {
    if (event.workflowTaskCompletedEventAttributes) failed = [];
    else if (isFailure(event)) failed.push(isoTimeOf(event));
  }
  const [since] = failed;
  if (since === undefined) return undefined;
  // Temporal counts all tries: the first is in the history if it failed, and the last is in progress.
  return { since, failures: failed.length + Math.max(attempt - 2, 0) };
}

/** Whether a try has failed, or took too long. A reset, or a worker that is not there any more, is none. */
function isFailure({
  workflowTaskFailedEventAttributes: failed,
  workflowTaskTimedOutEventAttributes: timedOut,
}: HistoryEvent): boolean {
  return failed ? failed.cause !== RESET : timedOut?.timeoutType === TIMEOUT_TYPE_START_TO_CLOSE;
}
