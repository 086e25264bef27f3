import type { Client } from '@temporalio/client';
import type { DeliverySummary } from '../../domain/delivery/delivery-view.js';
import { fanOutWorkflowId } from '../../domain/ledger/workflow-ids.js';
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
  /** Of the deliveries that this execution starts. */
  fan_out: FanOutProgress;
  /** How many executions start the event's deliveries. */
  executions: number;
  /** The event's number; absent if it has none. */
  sequence?: number;
}

/** The executions that start an event's deliveries; none if they were started before the event was answered. */
export async function findFanOut(client: Client, accountId: string, eventId: string): Promise<Execution[]> {
  const describe = (part: number) => describeExecution(client, fanOutWorkflowId(accountId, eventId, part));
  const first = await describe(0);
  if (!first) return [];
  const others = Array.from({ length: memoOf(first).executions - 1 }, (_, index) => describe(index + 1));
  return [first, ...(await Promise.all(others)).flatMap((execution) => execution ?? [])];
}

/** The progress of an event's fan-out; `undefined` if it has none. */
export function fanOutProgress(executions: readonly Execution[]): FanOutProgress | undefined {
  if (executions.length === 0) return undefined;
  const shares = executions.map((execution) => memoOf(execution).fan_out);
  return {
    started: shares.reduce((sum, { started }) => sum + started, 0),
    total: shares.reduce((sum, { total }) => sum + total, 0),
  };
}

function memoOf(execution: Execution): FanOutMemo {
  return execution.memo as unknown as FanOutMemo;
}
