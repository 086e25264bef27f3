import type { Client } from '@temporalio/client';
import { fanOutWorkflowId } from '../../domain/ledger/workflow-ids.js';
import type { DeliverySummary } from '../../domain/view/delivery-view.js';
import { describeExecution, type Execution } from './visibility/visibility.js';

/** An event as a list shows it. */
export interface EventSummary {
  id: string;
  kind: string;
  created_at: string;
  /** Its number in the account's sequence; absent if it has none. */
  sequence?: number;
}

/** An event with its payload, exactly as it was received, and the first of its deliveries. */
export interface EventWithPayload extends EventSummary {
  /** Absent if it cannot be read any more: it was kept for its time, or erased. */
  payload: string | undefined;
  /** Its payload was erased. */
  is_erased: boolean;
  /** It is a test of one endpoint. */
  is_test?: true;
  /** The endpoints that its producer named; absent: it went to all that matched. */
  named_endpoints?: readonly string[];
  /** Absent if its deliveries were started before it was answered. */
  fan_out: FanOutProgress | undefined;
  deliveries: DeliverySummary[];
}

/** How many of an event's deliveries have been started. */
export interface FanOutProgress {
  started: number;
  total: number;
}

/** The memo of an execution that starts deliveries. */
export interface FanOutMemo {
  fan_out: FanOutProgress;
}

/** The execution that starts an event's deliveries; `undefined` if they were started before the event was answered. */
export function findFanOut(
  client: Client,
  accountId: string,
  eventId: string,
): Promise<Execution | undefined> {
  return describeExecution(client, fanOutWorkflowId(accountId, eventId));
}

/** The progress of an event's fan-out; `undefined` if it has none. */
export function fanOutProgress(execution: Execution | undefined): FanOutProgress | undefined {
  return (execution?.memo as unknown as FanOutMemo | undefined)?.fan_out;
}
