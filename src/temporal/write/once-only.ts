import {
  type InternalWorkflowStartOptions,
  InternalWorkflowStartOptionsSymbol,
} from '@temporalio/client/lib/internal.js';

/** The name of a start call, among its options. */
export type OnceOnly = Pick<InternalWorkflowStartOptions, typeof InternalWorkflowStartOptionsSymbol>;

/**
 * Options of a start call that starts one execution however often it is repeated.
 *
 * The name is the request id. If the latest run of an execution was started with the same one, Temporal returns that
 * run, open or closed. So a call that is repeated because its response was lost starts nothing, even if the run that
 * it had started is over. No policy for workflow ids does that, and `WorkflowStartOptions` has no request id: the SDK
 * takes one by this symbol alone, which is meant for its own Nexus helpers.
 */
export function onceOnly(name: string): OnceOnly {
  return { [InternalWorkflowStartOptionsSymbol]: { requestId: name } };
}
