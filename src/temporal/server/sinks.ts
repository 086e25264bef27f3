import type { InjectedSinks } from '@temporalio/worker';
import type { WorkflowSinks } from '../../../workflows/sinks.js';
import type { Closing } from '../../domain/stats/closing.js';

/** What takes the calls of the workflows' sinks. @param closed is called with deliveries that have just been closed */
export function workflowSinks(closed: (closings: readonly Closing[]) => void): InjectedSinks<WorkflowSinks> {
  return { deliveries: { closed: { fn: (_info, closings) => closed(closings) } } };
}
