import { Context, type Info } from '@temporalio/activity';

/** The execution that calls an activity. @throws Error if there is none, as with a standalone activity */
export function callerOf({ workflowExecution }: Info): { workflowId: string; runId: string } {
  if (!workflowExecution) throw new Error('called by no workflow');
  return workflowExecution;
}

/**
 * Asks Temporal to cancel the execution that calls it. A workflow cannot do that itself, and an execution ends as
 * Canceled only if the server has a request.
 */
export async function requestCancellation(): Promise<void> {
  const { client, info } = Context.current();
  const { workflowId, runId } = callerOf(info);
  await client.workflow.getHandle(workflowId, runId).cancel();
}
