import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { type DeliveryKey, deliveryId } from '../../domain/basics/delivery-id.js';
import { idTime } from '../../domain/basics/id-time.js';
import type { EndpointIncident } from '../../domain/endpoint/breaker/incident.js';
import type { EndpointKey } from '../../domain/endpoint/endpoint-key.js';
import { deliveryWorkflowId, groupWorkflowId } from '../../domain/ledger/workflow-ids.js';
import type { RecordReads } from '../../domain/records/stored.js';
import { sharedNow } from '../../domain/time/shared-time.js';
import { describeExecution, type Execution } from './visibility/visibility.js';

/** The rows of an event's deliveries are there by this time, unless Temporal is away. Milliseconds. */
const STORED_WITHIN_MS = 10_000;
/** Waits after which a missing resource of a younger event is looked up again: half a second in all. Milliseconds. */
const WAITS_MS = [25, 50, 75, 100, 250];

/** Incidents of endpoints. */
export interface IncidentReads {
  /** Those of an endpoint that were open at some time of a period, the newest first. */
  within(endpoint: EndpointKey, from: Date, until: Date, limit: number): Promise<EndpointIncident[]>;
}

/** Sources of deliveries and events. */
export interface LedgerSources {
  client: Client;
  /** Has events, and rows of deliveries. */
  records: RecordReads;
  incidents: IncidentReads;
}

/** The workflow ids under which a delivery of an account may be found, the likeliest first. */
export async function workflowIdsOf(
  records: RecordReads,
  accountId: string,
  key: DeliveryKey,
): Promise<string[]> {
  const [row, carriers] = await Promise.all([
    records.summary(accountId, deliveryId(key)),
    records.carriersOf(accountId, key),
  ]);
  const ids = [deliveryWorkflowId(accountId, key), ...(row ? [row.workflow_id] : [])];
  return [...new Set([...ids, ...carriers.map(groupWorkflowId)])];
}

/** The latest execution of a delivery of an account; `undefined` if there is none. */
export async function locateExecution(
  { client, records }: Pick<LedgerSources, 'client' | 'records'>,
  accountId: string,
  key: DeliveryKey,
): Promise<Execution | undefined> {
  for (const id of await workflowIdsOf(records, accountId, key)) {
    const execution = await describeExecution(client, id);
    if (execution) return execution;
  }
  return undefined;
}

/**
 * Reads what belongs to an event. If nothing is found and the event is young, reads again for up to half a second.
 *
 * @param eventId a valid id: it tells when the event was accepted
 */
export async function untilStored<T>(
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

/** Whether an event was accepted a moment ago. Ids may come from machines whose clocks differ. */
function isYoung(eventId: string): boolean {
  return Math.abs(sharedNow() - idTime(eventId)) < STORED_WITHIN_MS;
}
