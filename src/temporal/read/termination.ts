import type { Client } from '@temporalio/client';
import proto from '@temporalio/proto';
import type { Intervention } from '../../domain/delivery/delivery.js';
import { oneEvent } from './history.js';
import { type HistoryEvent, isoTimeOf } from './history-events.js';

const { HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT } = proto.temporal.api.enums.v1.HistoryEventFilterType;

/** Who terminated an execution, and why. */
export interface Termination {
  intervention: Intervention;
  /** Human-readable: who, and the reason that they gave. */
  reason: string;
}

/** Who terminated an execution; `undefined` if it was not terminated. */
export async function readTermination(
  client: Client,
  execution: { workflowId: string; runId: string },
): Promise<Termination | undefined> {
  const event = await oneEvent(client, execution, HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT);
  return event && terminationOf(event);
}

/** What an event of a history says of a termination; `undefined` if it is another event. */
export function terminationOf(event: HistoryEvent): Termination | undefined {
  const terminated = event.workflowExecutionTerminatedEventAttributes;
  if (!terminated) return undefined;
  const by = terminated.identity || 'somebody';
  const why = terminated.reason ? `: ${terminated.reason}` : '';
  return {
    intervention: { action: 'terminate', at: isoTimeOf(event), by },
    reason: `Terminated in Temporal by ${by}${why}`.replace(/[^.]$/, '$&.'),
  };
}
