import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { DeliveryKey } from '../../domain/basics/delivery-id.js';
import { idTime } from '../../domain/basics/id-time.js';
import {
  ACCOUNT_ATTRIBUTE,
  ENDPOINT_ATTRIBUTE,
  EVENT_ATTRIBUTE,
} from '../../domain/ledger/search-attributes.js';
import { DELIVERY_TYPE, deliveryWorkflowId } from '../../domain/ledger/workflow-ids.js';
import { deliveriesOf, isCurrent } from './delivery-view.js';
import type { RecentGroups } from './group/recent-groups.js';
import type { Located } from './row-reader.js';
import { equals } from './visibility/query.js';
import { describeExecution, type Execution, listExecutions } from './visibility/visibility.js';

/** Visibility is complete for events older than this, milliseconds. It lists executions a moment after they were started. */
const VISIBLE_WITHIN_MS = 10_000;
/** What is not found of a younger event is looked for again after these waits: half a second in all. Milliseconds. */
const WAITS_MS = [25, 50, 75, 100, 250];
/** Executions of one event that are read at once; the list of deliveries has the others. */
const MAX_EXECUTIONS_OF_EVENT = 100;
/** Endpoints that are tried one by one for a young event. Accounts with more of them depend on visibility. */
const MAX_CANDIDATES = 50;
/** An event's deliveries to one endpoint are in no more groups than this. */
const MAX_GROUPS_OF_DELIVERY = 10;

/**
 * Finds the executions that stand for deliveries and events. Temporal knows an execution by its id at once, but lists it a moment
 * later; so a group that another process started is found only by looking again.
 */
export class Locator {
  private readonly client: Client;
  private readonly recentGroups: RecentGroups;

  /** @param recentGroups groups that this process has started, which visibility may not list yet */
  constructor(client: Client, recentGroups: RecentGroups) {
    this.client = client;
    this.recentGroups = recentGroups;
  }

  /** The execution that stands for a delivery of an account; `undefined` if the account has no such delivery. */
  locate(accountId: string, key: DeliveryKey): Promise<Located | undefined> {
    const workflowId = deliveryWorkflowId(accountId, key);
    const find = (execution: Execution | undefined): Located | undefined => {
      const row = execution && deliveriesOf(execution, accountId).find(({ summary }) => isOf(summary, key));
      return row && { execution, row };
    };
    const alone = async () => find(await describeExecution(this.client, workflowId));
    const inRecentGroup = async () => {
      const groupId = this.recentGroups.find(key);
      return groupId === undefined ? undefined : find(await describeExecution(this.client, groupId));
    };
    const listed = async () => {
      const clauses = [
        equals('WorkflowType', DELIVERY_TYPE),
        isCurrent,
        equals(ACCOUNT_ATTRIBUTE.name, accountId),
        equals(EVENT_ATTRIBUTE.name, key.event_id),
        equals(ENDPOINT_ATTRIBUTE.name, key.endpoint_id),
      ];
      const { data } = await listExecutions(this.client, clauses, MAX_GROUPS_OF_DELIVERY, undefined);
      return data.map(find).find((located) => located !== undefined);
    };
    return untilVisible(
      key.event_id,
      async () => (await alone()) ?? (await inRecentGroup()) ?? (await listed()),
      (located) => located !== undefined,
    );
  }

  /**
   * The executions of an event of an account, except its fan-out; groups among them have other deliveries, too.
   *
   * @param endpointIds endpoints that the event may have gone to: while it is young, visibility may not list its deliveries
   */
  async locateEvent(
    accountId: string,
    eventId: string,
    endpointIds: readonly string[],
  ): Promise<Execution[]> {
    const clauses = [
      equals(ACCOUNT_ATTRIBUTE.name, accountId),
      equals(EVENT_ATTRIBUTE.name, eventId),
      isCurrent,
    ];
    const { data: listed } = await listExecutions(this.client, clauses, MAX_EXECUTIONS_OF_EVENT, undefined);
    if (!isYoung(eventId)) return listed;
    // What is listed as closed is as it is now. Everything else is read again: it may have closed, or not be listed yet.
    const closed = listed.filter(({ status }) => status.name !== 'RUNNING');
    const open = listed.filter(({ status }) => status.name === 'RUNNING');
    const closedIds = new Set(closed.map(({ workflowId }) => workflowId));
    const candidates = [
      ...endpointIds
        .slice(0, MAX_CANDIDATES)
        .map((endpoint_id) => deliveryWorkflowId(accountId, { event_id: eventId, endpoint_id })),
      ...this.recentGroups.findOfEvent(eventId),
    ].filter((workflowId) => !closedIds.has(workflowId));
    const others = new Set([...open.map(({ workflowId }) => workflowId), ...candidates]);
    const read = await Promise.all([...others].map((id) => describeExecution(this.client, id)));
    return [...closed, ...read.flatMap((execution) => execution ?? [])];
  }
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
  return Math.abs(Date.now() - idTime(eventId)) < VISIBLE_WITHIN_MS;
}

function isOf({ event_id, endpoint_id }: DeliveryKey, key: DeliveryKey): boolean {
  return event_id === key.event_id && endpoint_id === key.endpoint_id;
}
