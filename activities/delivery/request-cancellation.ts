import { Context } from '@temporalio/activity';
import { callerOf } from './caller.js';

/**
 * Has Temporal cancel the execution that calls it. A workflow cannot ask for that itself, and an execution ends as Canceled only where
 * the server knows of a request.
 */
export async function requestCancellation(): Promise<void> {
  const { client, info } = Context.current();
  const { workflowId, runId } = callerOf(info);
  await client.workflow.getHandle(workflowId, runId).cancel();
}
