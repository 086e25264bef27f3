import type { Info } from '@temporalio/activity';

/** The execution that calls an activity. @throws Error if there is none, as with a standalone activity */
export function callerOf({ workflowExecution }: Info): { workflowId: string; runId: string } {
  if (!workflowExecution) throw new Error('called by no workflow');
  return workflowExecution;
}
