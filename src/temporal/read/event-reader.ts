import { positionAt } from '../../domain/archive/archived.js';
import { createdAt } from '../../domain/basics/id-time.js';
import { type FailingTask, keepsFailing } from '../../domain/explain/failing-task.js';
import { openEvent } from '../../domain/ledger/sealed-event.js';
import { KIND_ATTRIBUTE } from '../../domain/ledger/search-attributes.js';
import type { DeliveryFilter, EventFilter } from '../../domain/list/delivery-filter.js';
import { archivedEvent, fanOutIn, summaryIn } from './archive/archived-views.js';
import { eventLists, eventsOfDeliveryLists } from './archive/both-lists.js';
import { listBoth, type PlacedRow } from './archive/merged-list.js';
import { asksForDeliveries, eventClauses, eventTest, type LedgerFilter } from './delivery-filter.js';
import { deliveriesOf, headsOf } from './delivery-view.js';
import { newestRuns } from './earlier-runs.js';
import { type EventSummary, type EventWithPayload, fanOutProgress, findFanOut } from './event-view.js';
import { readFailingTask } from './failing-task.js';
import { sequencesIn } from './group/group-memo.js';
import { readStartedEvent } from './history.js';
import { type LedgerSources, locateEvent, untilVisible } from './locate.js';
import { RowReader } from './row-reader.js';
import { isOpenOrClosedSince, where } from './visibility/clauses.js';
import { type ExpandedPage, listExpanded } from './visibility/expanded-list.js';
import type { Execution, Page } from './visibility/visibility.js';

/** Archived deliveries of an event that it is read with; the list of deliveries has the others. */
const MAX_ARCHIVED = 100;

/** Reads events from the ledger, where an event is known by the executions that it started, and from the archive. */
export class EventReader {
  readonly sources: LedgerSources;

  constructor(sources: LedgerSources) {
    this.sources = sources;
  }

  /**
   * One event of an account; `undefined` if the account has no such event.
   *
   * @param endpointIds endpoints that the event may have gone to: its deliveries are found by them before visibility
   * lists them
   */
  async get(
    accountId: string,
    eventId: string,
    endpointIds: readonly string[],
  ): Promise<EventWithPayload | undefined> {
    const { client, archive, sealer } = this.sources;
    const { executions, fanOut } = await untilVisible(
      eventId,
      async () => {
        const [executions, fanOut] = await Promise.all([
          locateEvent(this.sources, accountId, eventId, endpointIds),
          findFanOut(client, accountId, eventId),
        ]);
        return { executions, fanOut };
      },
      ({ executions, fanOut }) => executions.length + fanOut.length > 0,
    );
    const [first] = [...fanOut, ...executions];
    const [event, archived] = await Promise.all([
      first && readStartedEvent(client, first, eventId),
      archive.event(accountId, eventId),
    ]);
    const others = archived ? await archive.deliveriesOf(accountId, [eventId], MAX_ARCHIVED) : [];
    if (event?.account_id !== accountId) return archived && archivedEvent(archived, others);
    const runs = executions
      .flatMap((execution) => deliveriesOf(execution, accountId).map((row) => ({ execution, row })))
      .filter(({ row }) => row.summary.event_id === eventId);
    const { event_kind: kind, sequence, is_test } = event;
    const payload = await openEvent(sealer, event);
    const created_at = createdAt(eventId);
    // Newer runs come first in the list, so for each run that is shown its newer ones are here, too.
    const rows = new RowReader(client);
    const held = await Promise.all(newestRuns(runs, runs).map((one) => rows.summary(one)));
    const ids = new Set(held.map(({ id }) => id));
    const deliveries = [...held, ...others.filter(({ id }) => !ids.has(id)).map(summaryIn)];
    const fan_out = fanOutProgress(fanOut) ?? (archived && fanOutIn(archived));
    const is_erased = payload === undefined;
    return {
      ...{ id: eventId, kind, created_at },
      ...(sequence !== undefined && { sequence }),
      ...{ payload, is_erased, fan_out, deliveries },
      ...(is_test && { is_test }),
    };
  }

  /**
   * The workflow task that keeps failing, so that an event's deliveries are not started; `undefined` if there is none.
   */
  async failingFanOut(accountId: string, eventId: string): Promise<FailingTask | undefined> {
    const open = (await findFanOut(this.sources.client, accountId, eventId)).filter(
      ({ closeTime }) => !closeTime,
    );
    const tasks = await Promise.all(open.map((execution) => readFailingTask(this.sources.client, execution)));
    return tasks.find((task) => task && keepsFailing(task));
  }

  /**
   * A page of an account's events: those that match what is asked of events, and have a delivery that matches all that
   * is asked of deliveries.
   */
  async list(
    accountId: string,
    filter: DeliveryFilter,
    limit: number,
    after?: string,
  ): Promise<Page<EventSummary>> {
    const sources = { ...this.sources, accountId };
    if (asksForDeliveries(filter)) return listBoth(eventsOfDeliveryLists(sources, filter), limit, after);
    const lists = eventLists(sources, filter, (size, from, since) =>
      this.heads(accountId, { ...filter, since }, size, from),
    );
    return listBoth(lists, limit, after);
  }

  /** A page of events by the executions that stand for them. */
  private heads(
    accountId: string,
    { since, ...ofEvent }: EventFilter & Pick<LedgerFilter, 'since'>,
    limit: number,
    after: string | undefined,
  ): Promise<ExpandedPage<PlacedRow<EventSummary>>> {
    const clauses = [...where(accountId, { isHead: true, isCurrent: true, since }), ...eventClauses(ofEvent)];
    const expand = (execution: Execution) => {
      if (!isOpenOrClosedSince(execution, since)) return [];
      const kind = execution.typedSearchAttributes.get(KIND_ATTRIBUTE) ?? '';
      const isWanted = eventTest(ofEvent, execution);
      const sequences = sequencesIn(execution);
      return headsOf(execution, accountId).map((id, index) => {
        const { closeTime, runId } = execution;
        const position = closeTime && positionAt(closeTime, runId, index);
        const sequence = sequences.get(id);
        const value = { id, kind, created_at: createdAt(id), ...(sequence !== undefined && { sequence }) };
        return isWanted({ event_id: id, event_kind: kind }) ? { id, value, position } : undefined;
      });
    };
    return listExpanded(this.sources.client, clauses, { expand }, limit, after);
  }
}
