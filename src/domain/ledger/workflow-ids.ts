import type { AlertChannel } from '../alert/alert.js';
import type { DeliveryKey } from '../basics/ids.js';

/** The id of a delivery's workflow. Temporal refuses a second start under it, which is what makes accepting an event idempotent. */
export function deliveryWorkflowId(accountId: string, key: DeliveryKey): string {
  return `delivery:${accountId}:${key.event_id}:${key.endpoint_id}`;
}

/** The inverse of {@link deliveryWorkflowId}. */
export function parseDeliveryWorkflowId(
  workflowId: string,
): (DeliveryKey & { account_id: string }) | undefined {
  const [type, account_id, event_id, endpoint_id] = workflowId.split(':');
  if (type !== 'delivery' || !account_id || !event_id || !endpoint_id) return undefined;
  return { account_id, event_id, endpoint_id };
}

/** The id of the workflow that starts the deliveries of an event with many endpoints, or none. */
export function fanOutWorkflowId(accountId: string, eventId: string, part = 0): string {
  return `fanout:${accountId}:${eventId}${part === 0 ? '' : `:${part}`}`;
}

/** The inverse of {@link fanOutWorkflowId}. */
export function parseFanOutWorkflowId(
  workflowId: string,
): { account_id: string; event_id: string } | undefined {
  const [type, account_id, event_id] = workflowId.split(':');
  return type === 'fanout' && account_id && event_id ? { account_id, event_id } : undefined;
}

/** The id of the workflow that watches an endpoint while it is failing. */
export function incidentWorkflowId(accountId: string, endpointId: string): string {
  return `incident:${accountId}:${endpointId}`;
}

/** The id of the workflow that wakes an endpoint's parked deliveries. */
export function releaseWorkflowId(accountId: string, endpointId: string): string {
  return `release:${accountId}:${endpointId}`;
}

/** The workflow types that stand for several deliveries. `deliverGroup` is the older one: nothing starts it any more. */
export const GROUP_TYPES: readonly string[] = ['deliverGroup', 'deliverTogether'];

/** The id of a workflow that makes several deliveries together. */
export function groupWorkflowId(groupId: string): string {
  return `group:${groupId}`;
}

/** The id of the workflow that finds out whether an endpoint wants events. */
export function verificationWorkflowId(accountId: string, endpointId: string): string {
  return `verify:${accountId}:${endpointId}`;
}

/** The id of the workflow that alerts people over a channel. There is one in each installation, which its task queue names. */
export function alertsWorkflowId(taskQueue: string, channel: AlertChannel): string {
  return `alerts:${channel}:${taskQueue}`;
}

/** The id of the workflow that sends an account's deliveries again, or steers many at once. */
export function replayWorkflowId(accountId: string, replayId: string): string {
  return `replay:${accountId}:${replayId}`;
}

/** The id of the workflow that erases a subject of an account. */
export function erasureWorkflowId(accountId: string, erasureId: string): string {
  return `erasure:${accountId}:${erasureId}`;
}

/** The id of the workflow that deletes an account. */
export function accountDeletionWorkflowId(accountId: string): string {
  return `account-deletion:${accountId}`;
}

/** The id of the workflow that ends the overlap of an endpoint's signing secrets. */
export function rotationWorkflowId(accountId: string, endpointId: string): string {
  return `rotation:${accountId}:${endpointId}`;
}

/** The id of the Schedule that archives what workers of a task queue have closed, and the beginning of its runs' workflow ids. */
export function archiveScheduleId(taskQueue: string): string {
  return `archive:${taskQueue}`;
}
