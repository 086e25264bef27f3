import type { ArchivedEvent } from '../../domain/archive/archived.js';
import { createdAt } from '../../domain/basics/id-time.js';
import { isId } from '../../domain/basics/ids.js';
import { type FailingTask, keepsFailing } from '../../domain/explain/failing-task.js';
import type { DeliveryFilter } from '../../domain/list/delivery-filter.js';
import { InvalidCursorError } from '../errors.js';
import { summaryIn } from './archive/archived-views.js';
import { eventsOfDeliveryLists } from './archive/both-lists.js';
import { listBoth } from './archive/merged-list.js';
import { asksForDeliveries } from './delivery-filter.js';
import { deliveriesOf } from './delivery-view.js';
import { newestRuns } from './earlier-runs.js';
import { type EventSummary, type EventWithPayload, fanOutProgress, findFanOut } from './event-view.js';
import { readFailingTask } from './failing-task.js';
import { type LedgerSources, locateEvent, untilVisible } from './locate.js';
import { RowReader } from './row-reader.js';
import type { Execution, Page } from './visibility/visibility.js';

/** Archived deliveries of an event that it is read with; the list of deliveries has the others. */
const MAX_ARCHIVED = 100;

/** Of a young event with so many deliveries all are waited for: they are started right after it was accepted. */
const MAX_AWAITED = 10;

/** Reads events, which are documents, with their deliveries, which are executions until they are archived. */
export class EventReader {
  readonly sources: LedgerSources;

  constructor(sources: LedgerSources) {
    this.sources = sources;
  }

  /** One event of an account; `undefined` if the account has no such event. */
  async get(accountId: string, eventId: string): Promise<EventWithPayload | undefined> {
    const { client, archive } = this.sources;
    const event = await archive.event(accountId, eventId);
    if (!event) return undefined;
    const others = await archive.deliveriesOf(accountId, [eventId], MAX_ARCHIVED);
    const awaited = event.endpoint_ids.length <= MAX_AWAITED ? event.endpoint_ids.length : 1;
    const { executions, fanOut } = await untilVisible(
      eventId,
      async () => {
        const [executions, fanOut] = await Promise.all([
          locateEvent(this.sources, event),
          findFanOut(client, accountId, eventId),
        ]);
        return { executions, fanOut };
      },
      ({ executions, fanOut }) =>
        fanOut.length > 0 || deliveriesIn(executions, event) + others.length >= awaited,
    );
    const runs = executions
      .flatMap((execution) => deliveriesOf(execution, accountId).map((row) => ({ execution, row })))
      .filter(({ row }) => row.summary.event_id === eventId);
    const { event_kind: kind, sequence, is_test, payload, kept } = event;
    // Newer runs come first in the list, so for each run that is shown its newer ones are here, too.
    const rows = new RowReader(client);
    const held = await Promise.all(newestRuns(runs, runs).map((one) => rows.summary(one)));
    const ids = new Set(held.map(({ id }) => id));
    return {
      ...{ id: eventId, kind, created_at: createdAt(eventId) },
      ...(sequence !== undefined && { sequence }),
      payload,
      is_erased: kept !== undefined && payload === undefined,
      fan_out: fanOutProgress(fanOut),
      deliveries: [...held, ...others.filter(({ id }) => !ids.has(id)).map(summaryIn)],
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
   * A page of an account's events, the latest first: those that match what is asked of events, and have a delivery that
   * matches all that is asked of deliveries.
   *
   * @throws InvalidCursorError if the cursor did not come from this list
   */
  async list(
    accountId: string,
    filter: DeliveryFilter,
    limit: number,
    after?: string,
  ): Promise<Page<EventSummary>> {
    const sources = { ...this.sources, accountId };
    if (asksForDeliveries(filter)) return listBoth(eventsOfDeliveryLists(sources, filter), limit, after);
    if (after !== undefined && !isId('event', after)) throw new InvalidCursorError();
    const found = await this.sources.archive.events(accountId, filter, limit + 1, after);
    const data = found.slice(0, limit).map(({ id, event_kind: kind, sequence }) => ({
      ...{ id, kind, created_at: createdAt(id) },
      ...(sequence !== undefined && { sequence }),
    }));
    const last = data.at(-1);
    return { data, ...(found.length > limit && last && { after: last.id }) };
  }
}

/** How many deliveries of an event are in some executions. */
function deliveriesIn(executions: readonly Execution[], { id, account_id }: ArchivedEvent): number {
  const rows = executions.flatMap((execution) => deliveriesOf(execution, account_id));
  return new Set(rows.filter(({ summary }) => summary.event_id === id).map(({ summary }) => summary.id)).size;
}
