import { WorkflowNotFoundError } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import proto, { type temporal } from '@temporalio/proto';
import { parseDeliveryId } from '../../src/domain/basics/delivery-id.js';
import { deliveryWorkflowId } from '../../src/domain/ledger/workflow-ids.js';
import type { ApiClient } from './api-client.js';
import type { TestSystem } from './system.js';
import { until } from './until.js';

const { EventType } = proto.temporal.api.enums.v1;

export type History = temporal.api.history.v1.IHistory;

/** The workflow id of a delivery, from its public id. */
export function workflowIdOf(client: Pick<ApiClient, 'accountId'>, deliveryId: string): string {
  const key = parseDeliveryId(deliveryId);
  if (!key) throw new Error(`${deliveryId} is no delivery id`);
  return deliveryWorkflowId(client.accountId, key);
}

/**
 * A handle of an execution that exists. A first attempt does not wait for the start of its execution, so what has
 * arrived at a receiver may have none yet.
 */
export async function executionOf(
  { temporal: { client } }: Pick<TestSystem, 'temporal'>,
  workflowId: string,
  runId?: string,
) {
  const handle = client.workflow.getHandle(workflowId, runId);
  await until(
    () =>
      handle.describe().then(
        () => true,
        (error: unknown) => {
          if (error instanceof WorkflowNotFoundError) return false;
          throw error;
        },
      ),
    (isThere) => isThere,
  );
  return handle;
}

/** The history of an execution: the latest run under a workflow id, unless another one is named. */
export async function fetchHistory(
  system: Pick<TestSystem, 'temporal'>,
  workflowId: string,
  runId?: string,
): Promise<History> {
  return (await executionOf(system, workflowId, runId)).fetchHistory();
}

/**
 * Waits until a workflow has heard of all that its history has. What is shown of a delivery is ahead of it by that: an
 * act that comes meanwhile is told to the workflow before the end of an attempt, and refused.
 */
export async function untilHeard(system: Pick<TestSystem, 'temporal'>, workflowId: string): Promise<void> {
  const handle = await executionOf(system, workflowId);
  await until(
    () => handle.describe(),
    ({ raw }) => !raw.pendingWorkflowTask,
  );
}

/**
 * The same once none of its activities is under way: one that has kept a row has not ended yet, and until the workflow
 * hears of that, an attempt is in flight for it.
 */
export async function untilAtRest(system: Pick<TestSystem, 'temporal'>, workflowId: string): Promise<void> {
  const handle = await executionOf(system, workflowId);
  await until(
    () => handle.describe(),
    ({ raw }) => !raw.pendingWorkflowTask && (raw.pendingActivities ?? []).length === 0,
  );
}

/** The types of its events in order, such as `WORKFLOW_EXECUTION_STARTED`. */
export function eventTypes(history: History): string[] {
  return (history.events ?? []).map(({ eventType }) =>
    (EventType[eventType ?? 0] ?? '').replace('EVENT_TYPE_', ''),
  );
}

/** A history in the form that Temporal's own tools write. */
export function toJson(history: History): string {
  return historyToJSON(history as never);
}
