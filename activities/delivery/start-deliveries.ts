import { Context } from '@temporalio/activity';

/**
 * How many are started at once: in groups that is three to six calls to Temporal, which on another machine wait longer
 * than they work.
 */
const AT_ONCE = 360;

/** Offsets in an event's targets: from `first` up to, not including, `end`. */
export interface TargetRange {
  event_id: string;
  first: number;
  end: number;
}

/** Starts deliveries of an event that is stored. */
export interface FanOutPorts {
  ledger: {
    /**
     * Starts some of an event's deliveries, unless that has been done already.
     *
     * @param first where the first of them is among the event's targets @param end where they end
     */
    startSome(eventId: string, first: number, end: number): Promise<void>;
  };
}

/**
 * Starts a part of the deliveries of the fan-out that calls it. Repeated after a crash, it continues after its last
 * heartbeat, and starts nothing twice.
 */
export function createStartDeliveries({ ledger }: FanOutPorts) {
  return async function startDeliveries({ event_id, first, end }: TargetRange): Promise<void> {
    const context = Context.current();
    const done: unknown = context.info.heartbeatDetails;
    for (let next = typeof done === 'number' ? done : first; next < end; next += AT_ONCE) {
      await ledger.startSome(event_id, next, Math.min(next + AT_ONCE, end));
      context.heartbeat(next + AT_ONCE);
    }
  };
}
