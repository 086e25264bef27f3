import { Context } from '@temporalio/activity';
import { callerOf } from './caller.js';

/**
 * Asks Temporal to cancel the execution that calls it. A workflow cannot do that itself, and an execution ends as Canceled only if the
 * server has a request.
 */
export async function requestCancellation(): Promise<void> {
  const { client, info } = Context.current();
  const { workflowId, runId } = callerOf(info);
  await client.workflow.getHandle(workflowId, runId).cancel();
}
