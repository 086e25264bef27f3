import { Context } from '@temporalio/activity';
import type { ActivityDependencies, DeliveryBatch } from '../ports.js';
import { callerOf } from './caller.js';

/**
 * How many are started at once: in groups that is three to six calls to Temporal, which on another machine wait longer
 * than they work.
 */
const AT_ONCE = 360;

/** Offsets in a fan-out's targets: from `first` up to, not including, `end`. */
export interface TargetRange {
  first: number;
  end: number;
}

/**
 * Starts a part of the deliveries of the fan-out that calls it. Repeated after a crash, it continues after its last
 * heartbeat, and starts nothing twice.
 */
export function createStartDeliveries({ ledger }: Pick<ActivityDependencies, 'ledger'>) {
  return async function startDeliveries({ first, end }: TargetRange): Promise<void> {
    const context = Context.current();
    const { info } = context;
    const { workflowId, runId } = callerOf(info);
    const { targets, offset: begin = 0, ...event } = await ledger.readInput<DeliveryBatch>(workflowId, runId);
    const done: unknown = info.heartbeatDetails;
    for (let next = typeof done === 'number' ? done : first; next < end; next += AT_ONCE) {
      const some = targets.slice(next, Math.min(next + AT_ONCE, end));
      await ledger.startSome(event, some, begin + next);
      context.heartbeat(next + AT_ONCE);
    }
  };
}
