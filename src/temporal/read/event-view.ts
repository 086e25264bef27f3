import type { Client } from '@temporalio/client';
import { type FailingTask, keepsFailing } from '../../domain/explain/failing-task.js';
import { fanOutWorkflowId } from '../../domain/ledger/workflow-ids.js';
import type { DeliverySummary } from '../../domain/view/delivery-view.js';
import { readFailingTask } from './failing-task.js';
import { describeExecution } from './visibility/visibility.js';

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
  /** Absent if it has so few deliveries that they were started before it was answered. */
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

/** A fan-out that has not started all deliveries of its event. */
export interface OpenFanOut extends FanOutProgress {
  /** The workflow task that keeps failing, so that no more are started; `undefined` if there is none. */
  failing_task: FailingTask | undefined;
}

/** The fan-out of an event; `undefined` if it has started all deliveries, or the event has none. */
export async function findFanOut(
  client: Client,
  accountId: string,
  eventId: string,
): Promise<OpenFanOut | undefined> {
  const execution = await describeExecution(client, fanOutWorkflowId(accountId, eventId));
  const { fan_out } = (execution?.memo ?? {}) as Partial<FanOutMemo>;
  if (!execution || !fan_out || fan_out.started >= fan_out.total) return undefined;
  const task = execution.closeTime ? undefined : await readFailingTask(client, execution);
  return { ...fan_out, failing_task: task && keepsFailing(task) ? task : undefined };
}
