import { Context } from '@temporalio/activity';

/**
 * Has Temporal cancel the execution that calls it. A workflow cannot ask for that itself, and an execution ends as Canceled only where
 * the server knows of a request.
 */
export async function requestCancellation(): Promise<void> {
  const { client, info } = Context.current();
  if (!info.workflowExecution) throw new Error('called by no workflow');
  const { workflowId, runId } = info.workflowExecution;
  await client.workflow.getHandle(workflowId, runId).cancel();
}
