import type { Client } from '@temporalio/client';
import { idTime } from '../../domain/basics/ids.js';
import {
  ACCOUNT_ATTRIBUTE,
  EVENT_ATTRIBUTE,
  EVENT_HEAD_ATTRIBUTE,
  KIND_ATTRIBUTE,
} from '../../domain/ledger/search-attributes.js';
import { deliveryWorkflowId } from '../../domain/ledger/workflow-ids.js';
import { type DeliverySummary, deliveriesOf, headsOf } from './delivery-view.js';
import { newestRuns } from './earlier-runs.js';
import { listExpanded } from './expanded-list.js';
import { type FanOutProgress, fanOutProgress, findFanOut } from './fan-out-progress.js';
import type { RecentGroups } from './groups.js';
import { readStartedEvent } from './history.js';
import { describeExecution, type Execution, equals, listExecutions, type Page, quote } from './visibility.js';

/** An event as a list shows it. */
export interface EventSummary {
  id: string;
  kind: string;
  created_at: string;
}

/** An event with its payload, exactly as it was received, and the first of its deliveries. */
export interface EventWithPayload extends EventSummary {
  payload: string;
  /** Absent where its deliveries were started before it was answered. */
  fan_out: FanOutProgress | undefined;
  deliveries: DeliverySummary[];
}

export interface EventFilter {
  kind?: string | undefined;
  created_after?: Date | undefined;
  created_before?: Date | undefined;
}

/** So many of an event's executions are shown with it; other deliveries are found in the list of deliveries. */
const SHOWN_EXECUTIONS = 100;

/** Visibility takes executions in a little after they were started; an event older than this it knows in full. Milliseconds. */
const VISIBLE_WITHIN_MS = 10_000;

/** Looked at one by one for a young event. Accounts with more endpoints wait for visibility. */
const MAX_CANDIDATES = 50;

/** Reads events from the ledger: an event is known by the executions that it started. */
export class EventReader {
  private readonly client: Client;
  private readonly recentGroups: RecentGroups;

  constructor(client: Client, recentGroups: RecentGroups) {
    this.client = client;
    this.recentGroups = recentGroups;
  }

  /**
   * One event of an account; `undefined` where it has none such.
   *
   * @param candidates endpoints that the event may have gone to: deliveries that visibility does not know yet are found by them
   */
  async get(
    accountId: string,
    eventId: string,
    candidates: readonly string[],
  ): Promise<EventWithPayload | undefined> {
    const clauses = [equals(ACCOUNT_ATTRIBUTE.name, accountId), equals(EVENT_ATTRIBUTE.name, eventId)];
    const [{ data }, fanOut] = await Promise.all([
      listExecutions(this.client, clauses, SHOWN_EXECUTIONS, undefined),
      findFanOut(this.client, accountId, eventId),
    ]);
    const young = Date.now() - idTime(eventId) < VISIBLE_WITHIN_MS;
    const executions = young ? await this.bringUpToDate(data, accountId, eventId, candidates) : data;
    const [first] = [...fanOut, ...executions];
    const event = first && (await readStartedEvent(this.client, first, eventId));
    if (event?.account_id !== accountId) return undefined;
    const runs = executions
      .flatMap(deliveriesOf)
      .filter((row) => row.account_id === accountId && row.summary.event_id === eventId)
      .map(({ summary }) => summary);
    const { event_kind: kind, accepted_at: created_at, payload } = event;
    // Newer runs come first in the list, so that none is missing here of a run that is shown.
    const deliveries = newestRuns(runs, runs);
    return { id: eventId, kind, created_at, payload, fan_out: fanOutProgress(fanOut), deliveries };
  }

  /** A page of an account's events. */
  async list(
    accountId: string,
    filter: EventFilter,
    limit: number,
    after?: string,
  ): Promise<Page<EventSummary>> {
    const clauses = [
      `${EVENT_HEAD_ATTRIBUTE.name} = true`,
      equals(ACCOUNT_ATTRIBUTE.name, accountId),
      ...(filter.kind ? [equals(KIND_ATTRIBUTE.name, filter.kind)] : []),
      ...(filter.created_after ? [`StartTime > ${quote(filter.created_after.toISOString())}`] : []),
      ...(filter.created_before ? [`StartTime < ${quote(filter.created_before.toISOString())}`] : []),
    ];
    const expand = (execution: Execution) => eventsOf(execution, accountId);
    return listExpanded(this.client, clauses, { expand }, limit, after);
  }

  /** What visibility lists as closed, and everything else as it is now: visibility may not know it yet, or not that it has closed. */
  private async bringUpToDate(
    listed: readonly Execution[],
    accountId: string,
    eventId: string,
    endpointIds: readonly string[],
  ): Promise<Execution[]> {
    const closed = listed.filter(({ status }) => status.name !== 'RUNNING');
    const closedIds = new Set(closed.map(({ workflowId }) => workflowId));
    const open = listed.filter(({ status }) => status.name === 'RUNNING');
    const candidates = [
      ...endpointIds
        .slice(0, MAX_CANDIDATES)
        .map((endpoint_id) => deliveryWorkflowId(accountId, { event_id: eventId, endpoint_id })),
      ...this.recentGroups.findByPrefix(
        deliveryWorkflowId(accountId, { event_id: eventId, endpoint_id: '' }),
      ),
    ].filter((workflowId) => !closedIds.has(workflowId));
    const workflowIds = new Set([...open.map(({ workflowId }) => workflowId), ...candidates]);
    const others = await Promise.all(
      [...workflowIds].map((workflowId) => describeExecution(this.client, workflowId)),
    );
    return [...closed, ...others.flatMap((execution) => execution ?? [])];
  }
}

/** The events that an execution stands for in a list of an account's events. */
function eventsOf(execution: Execution, accountId: string): EventSummary[] {
  const kind = execution.typedSearchAttributes.get(KIND_ATTRIBUTE) ?? '';
  const created_at = execution.startTime.toISOString();
  if (execution.type !== 'deliverGroup') {
    const [id = ''] = execution.typedSearchAttributes.get(EVENT_ATTRIBUTE) ?? [];
    return [{ id, kind, created_at }];
  }
  return headsOf(execution)
    .filter(({ account_id }) => account_id === accountId)
    .map(({ event_id }) => ({ id: event_id, kind, created_at }));
}
