import type { Client } from '@temporalio/client';
import { createdAt } from '../../domain/basics/id-time.js';
import {
  ACCOUNT_ATTRIBUTE,
  EVENT_ATTRIBUTE,
  EVENT_HEAD_ATTRIBUTE,
  KIND_ATTRIBUTE,
} from '../../domain/ledger/search-attributes.js';
import { type DeliveryFilter, needsRecords } from './delivery-filter.js';
import { DeliveryList } from './delivery-list.js';
import {
  type DeliverySummary,
  deliveriesOf,
  headsOf,
  isCurrent,
  isWithin,
  periodClauses,
} from './delivery-view.js';
import { newestRuns } from './earlier-runs.js';
import { type FanOutProgress, fanOutProgress, findFanOut } from './fan-out-progress.js';
import { hasKey } from './group/group-memo.js';
import type { RecentGroups } from './group/recent-groups.js';
import { readStartedEvent } from './history.js';
import { Locator, untilVisible } from './locate.js';
import { RowReader } from './row-reader.js';
import { listExpanded } from './visibility/expanded-list.js';
import { equals, isTrue } from './visibility/query.js';
import type { Execution, Page } from './visibility/visibility.js';

/** An event as a list shows it. */
export interface EventSummary {
  id: string;
  kind: string;
  created_at: string;
}

/** An event with its payload, exactly as it was received, and the first of its deliveries. */
export interface EventWithPayload extends EventSummary {
  payload: string;
  /** Absent if its deliveries were started before it was answered. */
  fan_out: FanOutProgress | undefined;
  deliveries: DeliverySummary[];
}

/** Filters of a list of events. An event must match those on itself, and have one delivery that matches all on deliveries. */
export type EventFilter = DeliveryFilter;

/** Reads events from the ledger: an event is known by the executions that it started. */
export class EventReader {
  private readonly client: Client;
  private readonly locator: Locator;

  constructor(client: Client, recentGroups: RecentGroups) {
    this.client = client;
    this.locator = new Locator(client, recentGroups);
  }

  /**
   * One event of an account; `undefined` if the account has no such event.
   *
   * @param endpointIds endpoints that the event may have gone to: its deliveries are found by them before visibility lists them
   */
  async get(
    accountId: string,
    eventId: string,
    endpointIds: readonly string[],
  ): Promise<EventWithPayload | undefined> {
    const { executions, fanOut } = await untilVisible(
      eventId,
      async () => {
        const [executions, fanOut] = await Promise.all([
          this.locator.locateEvent(accountId, eventId, endpointIds),
          findFanOut(this.client, accountId, eventId),
        ]);
        return { executions, fanOut };
      },
      ({ executions, fanOut }) => executions.length + fanOut.length > 0,
    );
    const [first] = [...fanOut, ...executions];
    const event = first && (await readStartedEvent(this.client, first, eventId));
    if (event?.account_id !== accountId) return undefined;
    const runs = executions
      .flatMap((execution) => deliveriesOf(execution, accountId).map((row) => ({ execution, row })))
      .filter(({ row }) => row.summary.event_id === eventId);
    const { event_kind: kind, payload } = event;
    const created_at = createdAt(eventId);
    // Newer runs come first in the list, so for each run that is shown its newer ones are here, too.
    const deliveries = await new RowReader(this.client).summaries(newestRuns(runs, runs));
    return { id: eventId, kind, created_at, payload, fan_out: fanOutProgress(fanOut), deliveries };
  }

  /** A page of an account's events. */
  async list(
    accountId: string,
    filter: EventFilter,
    limit: number,
    after?: string,
  ): Promise<Page<EventSummary>> {
    const { endpoint_id, statuses, ...ofEvent } = filter;
    if (endpoint_id !== undefined || statuses !== undefined || needsRecords(filter)) {
      const { data, ...rest } = await new DeliveryList(this.client, accountId, filter).events(limit, after);
      const events = data.map(({ event_id: id, event_kind: kind, created_at }) => ({ id, kind, created_at }));
      return { data: events, ...rest };
    }
    const clauses = [
      isTrue(EVENT_HEAD_ATTRIBUTE.name),
      isCurrent,
      equals(ACCOUNT_ATTRIBUTE.name, accountId),
      ...(ofEvent.event_id ? [equals(EVENT_ATTRIBUTE.name, ofEvent.event_id)] : []),
      ...(ofEvent.event_kind ? [equals(KIND_ATTRIBUTE.name, ofEvent.event_kind)] : []),
      ...(ofEvent.key_token ? [equals(ACCOUNT_ATTRIBUTE.name, ofEvent.key_token)] : []),
      ...periodClauses(ofEvent),
    ];
    const expand = (execution: Execution) => {
      const kind = execution.typedSearchAttributes.get(KIND_ATTRIBUTE) ?? '';
      const isKeyed = ofEvent.key_token ? hasKey(execution, ofEvent.key_token) : () => true;
      const isWanted = (id: string) =>
        isKeyed(id) && isWithin(id, ofEvent) && (ofEvent.event_id === undefined || id === ofEvent.event_id);
      return headsOf(execution, accountId).map((id) =>
        isWanted(id) ? { id, kind, created_at: createdAt(id) } : undefined,
      );
    };
    return listExpanded(this.client, clauses, { expand }, limit, after);
  }
}
