import type { Workflow } from '@temporalio/common';
import { makeContinueAsNewFunc, workflowInfo } from '@temporalio/workflow';

/**
 * Continues in a new run, with the memo as it is now. The SDK would give the new run the memo that this one began with,
 * but the search attributes as they are now.
 */
export async function continueWithMemo<F extends Workflow>(...args: Parameters<F>): Promise<never> {
  const { memo } = workflowInfo();
  return makeContinueAsNewFunc<F>(memo && { memo })(...args);
}
