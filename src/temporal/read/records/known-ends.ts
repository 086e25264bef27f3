import type { Client } from '@temporalio/client';
import { type DeliveryKey, deliveryId } from '../../../domain/basics/delivery-id.js';
import { CLOSED_STATUSES, type ClosedStatus } from '../../../domain/delivery/delivery.js';
import { DELIVERY_TYPE, deliveryWorkflowId, isGroup } from '../../../domain/ledger/workflow-ids.js';
import type { KnownEnd } from '../../../domain/records/told.js';
import type { Delivery } from '../../../domain/view/delivery-view.js';
import { startedAt } from '../delivery-view.js';
import { readMemberIds } from '../group-members.js';
import { closingEvent, decodeFirst, isoTimeOf, terminationOf } from '../history.js';
import { EVERY_ACCOUNT, where } from '../visibility/query.js';
import { describeExecution, type Execution, everyExecution } from '../visibility/visibility.js';

/** A delivery of an account. */
export type OwnedKey = DeliveryKey & { account_id: string };

/** Temporal's knowledge of a delivery beyond MongoDB's. */
export interface KnownOf {
  /** It has an open execution, which tells of it, or an execution that is to start it. */
  isRunning: boolean;
  /** How it has ended; absent if Temporal does not know that (any more), or of several deliveries not of which. */
  end?: KnownEnd | undefined;
}

/** Temporal's knowledge of a delivery whose row is open: of the run that the row names, and of later ones. */
export async function knownOfOpen(
  client: Client,
  key: OwnedKey,
  { workflow_id, run_id, started_at }: Pick<Delivery, 'workflow_id' | 'run_id' | 'started_at'>,
): Promise<KnownOf> {
  const described = await Promise.all([
    describeExecution(client, workflow_id, run_id),
    describeExecution(client, workflow_id),
    describeExecution(client, deliveryWorkflowId(key.account_id, key)),
  ]);
  const isLater = (one: Execution) => one.runId === run_id || startedAt(one) >= started_at;
  return known(
    client,
    described.flatMap((one) => one ?? []),
    isLater,
  );
}

/** Temporal's knowledge of deliveries of an event that have no row, by their ids. */
export async function knownOfEvent(
  client: Client,
  taskQueue: string,
  event_id: string,
  keys: readonly OwnedKey[],
): Promise<Map<string, KnownOf>> {
  const type = [DELIVERY_TYPE, 'fanOutEvent'];
  const latest: Execution[] = [];
  for await (const one of everyExecution(client, where(EVERY_ACCOUNT, { taskQueue, type, event: event_id })))
    latest.push((await describeExecution(client, one.workflowId, one.runId)) ?? one);
  const executions = await Promise.all(
    latest.map(async (execution) => {
      if (execution.type !== DELIVERY_TYPE) return { execution, members: undefined };
      return { execution, members: await readMemberIds(client, execution) };
    }),
  );
  const found = keys.map(deliveryId).map(async (id) => {
    const own = executions.filter(({ execution, members }) =>
      members ? members.has(id) : isOpen(execution),
    );
    const ofDelivery = own.map(({ execution }) => execution);
    return [id, await known(client, ofDelivery, () => true)] as const;
  });
  return new Map(await Promise.all(found));
}

function isOpen({ status }: Execution): boolean {
  return status.name === 'RUNNING' || status.name === 'PAUSED';
}

async function known(
  client: Client,
  executions: readonly Execution[],
  counts: (execution: Execution) => boolean,
): Promise<KnownOf> {
  if (executions.some(isOpen)) return { isRunning: true };
  const different = [...new Map(executions.map((one) => [one.runId, one])).values()];
  const ends = await Promise.all(different.filter(counts).map((one) => readEnd(client, one)));
  const inOrder = ends.flatMap((end) => end ?? []).sort((a, b) => (a.at < b.at ? -1 : 1));
  return {
    isRunning: false,
    end: inOrder.find(({ status }) => status === 'delivered') ?? inOrder.at(-1),
  };
}

/** How the deliveries of an execution have ended; `undefined` if that is not known of each of them. */
async function readEnd(client: Client, execution: Execution): Promise<KnownEnd | undefined> {
  const { workflowId: workflow_id, runId: run_id } = execution;
  const event = await closingEvent(client, execution);
  if (!event) return undefined;
  const run = {
    ...{ workflow_id, run_id, started_at: startedAt(execution) },
    ...(isGroup(workflow_id) && { in_group: true as const }),
  };
  const at = isoTimeOf(event);
  const termination = terminationOf(event);
  if (termination) return { run, at, status: 'terminated', ...termination };
  const completed = event.workflowExecutionCompletedEventAttributes;
  const result = completed && ((await decodeFirst(client, completed.result?.payloads)) as object);
  const statuses = result
    ? Object.keys(result)
    : event.workflowExecutionCanceledEventAttributes
      ? ['cancelled']
      : [event.workflowExecutionFailedEventAttributes?.failure?.applicationFailureInfo?.type ?? ''];
  const [status] = statuses as ClosedStatus[];
  if (status === undefined || statuses.length > 1 || !CLOSED_STATUSES.includes(status)) return undefined;
  const reason = `MongoDB was restored from an older copy. Temporal says how this has ended since: ${status}.`;
  return { run, at, status, reason };
}
