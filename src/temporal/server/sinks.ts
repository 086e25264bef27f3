import type { InjectedSinks } from '@temporalio/worker';
import type { WorkflowSinks } from '../../../workflows/sinks.js';
import { dropOldest } from '../../domain/basics/bounded-memory.js';
import type { Closing } from '../../domain/stats/closing.js';

/**
 * Receiver of the calls of the workflows' sinks. Temporal repeats a workflow task whose result it has not taken, such
 * as one that would end a workflow to which a signal has come meanwhile, and the task makes its calls again: each
 * delivery's end is passed on once.
 *
 * @param closed is called with deliveries that have just been closed
 */
export function workflowSinks(closed: (closings: readonly Closing[]) => void): InjectedSinks<WorkflowSinks> {
  const seen = new Set<string>();
  const isNew = (runId: string, { event_id, endpoint_id }: Closing) => {
    const end = `${runId} ${event_id} ${endpoint_id}`;
    if (seen.has(end)) return false;
    seen.add(end);
    // More stay than are closed while a workflow task is repeated.
    dropOldest(seen, 10_000);
    return true;
  };
  return {
    deliveries: {
      closed: {
        fn: ({ runId }, closings) => {
          const fresh = closings.filter((closing) => isNew(runId, closing));
          if (fresh.length > 0) closed(fresh);
        },
      },
    },
  };
}
