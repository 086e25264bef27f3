import { proxySinks, type Sinks } from '@temporalio/workflow';
import type { Closing } from '../src/domain/stats/closing.js';

/**
 * Notices of workflows to the process that runs them. A call of a sink is no command: it does not stand in the history,
 * is not repeated by a replay, and nothing waits for it. So what is counted this way can be counted twice, or not at
 * all, if a worker dies at that moment.
 */
export interface WorkflowSinks extends Sinks {
  deliveries: {
    /** These have been closed. */
    closed(closings: Closing[]): void;
  };
}

export const { deliveries } = proxySinks<WorkflowSinks>();
