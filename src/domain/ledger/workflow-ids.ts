import type { AlertChannel } from '../alert/alert.js';
import { type DeliveryKey, deliveryId, parseDeliveryId } from '../basics/delivery-id.js';

/**
 * An id in which what tells the execution from others of its type comes first, because lists show the beginning. The
 * account is there because what an account asks for is found under its own id only.
 */
const owned = (type: string) => (accountId: string, id: string) => `${type}:${id}:${accountId}`;

/**
 * The id of a delivery's workflow: the delivery's id, and the account. Temporal refuses a second start under it, which
 * is what makes accepting an event idempotent.
 */
export function deliveryWorkflowId(accountId: string, key: DeliveryKey): string {
  return `${deliveryId(key)}:${accountId}`;
}

/** The inverse of {@link deliveryWorkflowId}. */
export function parseDeliveryWorkflowId(
  workflowId: string,
): (DeliveryKey & { account_id: string }) | undefined {
  const [id = '', account_id] = workflowId.split(':');
  const key = parseDeliveryId(id);
  return key && account_id ? { account_id, ...key } : undefined;
}

/** The id in a workflow id that begins like this. */
function idIn(workflowId: string, prefix: string): string | undefined {
  return workflowId.split(':').find((part) => part.startsWith(prefix));
}

/** The id of the workflow that starts the deliveries of an event with many endpoints, or none. */
export const fanOutWorkflowId = owned('fanout');

/** The inverse of {@link fanOutWorkflowId}. */
export function parseFanOutWorkflowId(
  workflowId: string,
): { account_id: string; event_id: string } | undefined {
  if (!workflowId.startsWith('fanout:')) return undefined;
  const [account_id, event_id] = [idIn(workflowId, 'acct_'), idIn(workflowId, 'evt_')];
  return account_id && event_id ? { account_id, event_id } : undefined;
}

/** The id of the workflow that waits, for a Nexus operation, until an event's deliveries are closed. */
export function outcomeWorkflowId(accountId: string, eventId: string, requestId: string): string {
  return `${owned('outcome')(accountId, eventId)}:${requestId}`;
}

/** The id of the workflow that sends a scheduled event. */
export const scheduledWorkflowId = owned('scheduled');

/** The id of the workflow that watches an endpoint while it is failing. */
export const incidentWorkflowId = owned('incident');

/** The id of the workflow that wakes an endpoint's parked deliveries. */
export const releaseWorkflowId = owned('release');

/** The type of the workflows that make deliveries, one or several. */
export const DELIVERY_TYPE = 'deliver';

/** The id of a workflow that makes several deliveries together. */
export function groupWorkflowId(groupId: string): string {
  return `group:${groupId}`;
}

/** The inverse of {@link groupWorkflowId}; `undefined` if it makes no group. */
export function groupIn(workflowId: string): string | undefined {
  return isGroup(workflowId) ? workflowId.slice('group:'.length) : undefined;
}

/** Whether a workflow makes several deliveries together, by its id. */
export function isGroup(workflowId: string): boolean {
  return workflowId.startsWith('group:');
}

/** The id of the workflow that finds out whether an endpoint wants events. */
export const verificationWorkflowId = owned('verify');

/**
 * The id of the workflow that alerts people over a channel. There is one in each installation, which its task queue
 * names.
 */
export function alertsWorkflowId(taskQueue: string, channel: AlertChannel): string {
  return `alerts:${channel}:${taskQueue}`;
}

/** The id of the workflow that sends an account's deliveries again, or steers many at once. */
export const replayWorkflowId = owned('replay');

/** Id of the workflow that is started to read Temporal's time. */
export function clockWorkflowId(taskQueue: string): string {
  return `clock:${taskQueue}`;
}

/** The id of the workflow that erases a subject of an account. */
export const erasureWorkflowId = owned('erasure');

/** The id of the workflow that deletes an account. */
export function accountDeletionWorkflowId(accountId: string): string {
  return `account-deletion:${accountId}`;
}

/** The id of the workflow that ends the overlap of an endpoint's signing secrets. */
export const rotationWorkflowId = owned('rotation');

/**
 * The id of the Schedule that keeps records of what workers of a task queue do, and the beginning of its runs'
 * workflow ids.
 */
export function recordScheduleId(taskQueue: string): string {
  return `records:${taskQueue}`;
}
