import { Context } from '@temporalio/activity';
import type { DeliveryStarter } from './ports.js';

/** Deliveries that are started together: as many as fit into a group. */
const PART_SIZE = 60;

/** Places of a fan-out's targets: from `first` up to, not including, `end`. */
export interface TargetRange {
  first: number;
  end: number;
}

/**
 * Starts a part of the deliveries of the fan-out that calls it. Repeated after a crash, it goes on where its last heartbeat was, and
 * starts nothing twice.
 */
export function createStartDeliveries(starter: DeliveryStarter) {
  return async function startDeliveries({ first, end }: TargetRange): Promise<void> {
    const context = Context.current();
    const { info } = context;
    if (!info.workflowExecution) throw new Error('called by no workflow');
    const { workflowId, runId } = info.workflowExecution;
    const { targets, ...event } = await starter.readFanOut(workflowId, runId);
    const done: unknown = info.heartbeatDetails;
    for (let next = typeof done === 'number' ? done : first; next < end; next += PART_SIZE) {
      await starter.startPart(event, targets.slice(next, Math.min(next + PART_SIZE, end)), next);
      context.heartbeat(next + PART_SIZE);
    }
  };
}
