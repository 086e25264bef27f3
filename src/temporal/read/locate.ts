import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { ArchivedEvent, ArchiveReads } from '../../domain/archive/archived.js';
import { type DeliveryKey, deliveryId } from '../../domain/basics/delivery-id.js';
import { idTime } from '../../domain/basics/id-time.js';
import { DELIVERY_TYPE, deliveryWorkflowId, groupWorkflowId } from '../../domain/ledger/workflow-ids.js';
import type { PayloadSealer } from '../../domain/privacy/payload-sealer.js';
import { sharedNow } from '../../domain/time/shared-time.js';
import { deliveriesOf } from './delivery-view.js';
import type { Located } from './row-reader.js';
import { where } from './visibility/clauses.js';
import { describeExecution, type Execution, listExecutions } from './visibility/visibility.js';

/**
 * Visibility is complete for events older than this, milliseconds. It lists executions a moment after they were
 * started.
 */
const VISIBLE_WITHIN_MS = 10_000;
/** What is not found of a younger event is looked for again after these waits: half a second in all. Milliseconds. */
const WAITS_MS = [25, 50, 75, 100, 250];
/** Executions of one event that are read at once; the list of deliveries has the others. */
const MAX_EXECUTIONS_OF_EVENT = 100;
/** Endpoints that are tried one by one for a young event. Of one with more of them, visibility tells the others. */
const MAX_CANDIDATES = 50;
/** An event's deliveries to one endpoint are in no more groups than this. */
const MAX_GROUPS_OF_DELIVERY = 10;

/** What is read of deliveries and events, and with what. */
export interface LedgerSources {
  client: Client;
  /** Opens what executions hold sealed. */
  sealer: PayloadSealer;
  /** Has events, and what Temporal has removed. */
  archive: ArchiveReads;
}

/**
 * The execution that stands for a delivery of an account; `undefined` if the account has no such delivery. Temporal
 * knows an execution by its id at once, but lists it a moment later; so it is looked for under the ids that it can
 * have, which the event tells, before it is listed.
 */
export function locateDelivery(
  { client, archive }: LedgerSources,
  accountId: string,
  key: DeliveryKey,
): Promise<Located | undefined> {
  const id = deliveryId(key);
  const find = (execution: Execution | undefined): Located | undefined => {
    const row = execution && deliveriesOf(execution, accountId).find(({ summary }) => summary.id === id);
    return row && { execution, row };
  };
  const alone = async () => find(await describeExecution(client, deliveryWorkflowId(accountId, key)));
  const inGroup = async () => {
    for (const groupId of await archive.carriersOf(accountId, key)) {
      const located = find(await describeExecution(client, groupWorkflowId(groupId)));
      if (located) return located;
    }
    return undefined;
  };
  const listed = async () => {
    const ofKey = { event: key.event_id, endpoint: key.endpoint_id };
    const clauses = where(accountId, { type: DELIVERY_TYPE, isCurrent: true, ...ofKey });
    const { data } = await listExecutions(client, clauses, MAX_GROUPS_OF_DELIVERY);
    return data.map(find).find((located) => located !== undefined);
  };
  return untilVisible(
    key.event_id,
    async () => (await alone()) ?? (await inGroup()) ?? (await listed()),
    (located) => located !== undefined,
  );
}

/**
 * The executions of an event, except its fan-out; groups among them have other deliveries, too. While the event is
 * young, visibility may not list all of them.
 */
export async function locateEvent(
  { client }: LedgerSources,
  { id: eventId, account_id: accountId, endpoint_ids, carriers }: ArchivedEvent,
): Promise<Execution[]> {
  const clauses = where(accountId, { event: eventId, isCurrent: true });
  const { data: listed } = await listExecutions(client, clauses, MAX_EXECUTIONS_OF_EVENT);
  if (!isYoung(eventId)) return listed;
  // What is listed as closed is as it is now. Everything else is read again: it may have closed, or not be listed yet.
  const closed = listed.filter(({ status }) => status.name !== 'RUNNING');
  const candidates = new Set([
    ...endpoint_ids
      .slice(0, MAX_CANDIDATES)
      .map((endpoint_id) => deliveryWorkflowId(accountId, { event_id: eventId, endpoint_id })),
    ...carriers.map(groupWorkflowId),
  ]);
  for (const { workflowId } of closed) candidates.delete(workflowId);
  // A delivery that was sent again has a closed run and an open one under one id.
  const open = listed.filter(({ status }) => status.name === 'RUNNING');
  const others = new Set([...open.map(({ workflowId }) => workflowId), ...candidates]);
  const read = await Promise.all([...others].map((id) => describeExecution(client, id)));
  return [...closed, ...read.flatMap((execution) => execution ?? [])];
}

/**
 * Reads what belongs to an event. If nothing is found and the event is young, reads again for up to half a second.
 *
 * @param eventId a valid id: it tells when the event was accepted
 */
export async function untilVisible<T>(
  eventId: string,
  read: () => Promise<T>,
  isFound: (found: T) => boolean,
): Promise<T> {
  let found = await read();
  for (const wait of WAITS_MS) {
    if (isFound(found) || !isYoung(eventId)) break;
    await delay(wait);
    found = await read();
  }
  return found;
}

/** Whether visibility may not list everything of an event yet. Ids may come from machines whose clocks differ. */
function isYoung(eventId: string): boolean {
  return Math.abs(sharedNow() - idTime(eventId)) < VISIBLE_WITHIN_MS;
}
