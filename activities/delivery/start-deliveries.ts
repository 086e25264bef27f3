import { Context } from '@temporalio/activity';
import { groupOffsets, MAX_GROUP_SIZE } from '../../src/domain/delivery/delivery.js';
import type { ActivityDependencies } from '../ports.js';
import { callerOf } from './caller.js';

/** How many parts are started at once. Each is a call to Temporal, which on another machine waits longer than it works. */
const PARTS_AT_ONCE = 5;

/** Offsets in a fan-out's targets: from `first` up to, not including, `end`. */
export interface TargetRange {
  first: number;
  end: number;
}

/**
 * Starts a part of the deliveries of the fan-out that calls it. Repeated after a crash, it continues after its last heartbeat, and starts
 * nothing twice.
 */
export function createStartDeliveries({ ledger }: Pick<ActivityDependencies, 'ledger'>) {
  return async function startDeliveries({ first, end }: TargetRange): Promise<void> {
    const context = Context.current();
    const { info } = context;
    const { workflowId, runId } = callerOf(info);
    const { targets, offset: begin = 0, ...event } = await ledger.readFanOut(workflowId, runId);
    const done: unknown = info.heartbeatDetails;
    const step = MAX_GROUP_SIZE * PARTS_AT_ONCE;
    for (let next = typeof done === 'number' ? done : first; next < end; next += step) {
      const startPart = (offset: number) =>
        ledger.startPart(
          event,
          targets.slice(offset, Math.min(offset + MAX_GROUP_SIZE, end)),
          begin + offset,
        );
      await Promise.all(groupOffsets(next, end, PARTS_AT_ONCE).map(startPart));
      context.heartbeat(next + step);
    }
  };
}
