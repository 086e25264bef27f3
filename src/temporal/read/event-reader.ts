import { z } from 'zod';
import { createdAt } from '../../domain/basics/id-time.js';
import { isId } from '../../domain/basics/ids.js';
import { type FailingTask, keepsFailing } from '../../domain/explain/failing-task.js';
import { asksForDeliveries, type DeliveryFilter } from '../../domain/list/delivery-filter.js';
import { POSITION, type RecordReads } from '../../domain/records/stored.js';
import { summaryIn } from '../../domain/records/stored-views.js';
import type { DeliverySummary } from '../../domain/view/delivery-view.js';
import { InvalidCursorError } from '../errors.js';
import { MAX_EXAMINED, notBegun } from './delivery-reader.js';
import { type EventSummary, type EventWithPayload, fanOutProgress, findFanOut } from './event-view.js';
import { readFailingTask } from './failing-task.js';
import { type LedgerSources, untilStored } from './locate.js';
import { decodeCursor, encodeCursor } from './visibility/cursor.js';
import type { Page } from './visibility/visibility.js';

/** Deliveries that an event is read with; the list of deliveries has the others. */
const MAX_DELIVERIES = 500;

/** Of a young event with so many deliveries all are waited for: they have rows a moment after it was accepted. */
const MAX_AWAITED = 10;

/** Deliveries of whose events the first ones are looked for at once. */
const COMPARED_AT_ONCE = 100;

const CURSOR = z.tuple([z.string().regex(POSITION)]);

/** Reads events with their deliveries. */
export class EventReader {
  readonly sources: LedgerSources;

  constructor(sources: LedgerSources) {
    this.sources = sources;
  }

  /** One event of an account; `undefined` if the account has no such event. */
  async get(accountId: string, eventId: string): Promise<EventWithPayload | undefined> {
    const { client, records } = this.sources;
    const event = await records.event(accountId, eventId);
    if (!event) return undefined;
    const { length } = event.endpoint_ids;
    const awaited = length <= MAX_AWAITED ? length : 1;
    const { stored, fanOut } = await untilStored(
      eventId,
      async () => {
        const [stored, fanOut] = await Promise.all([
          records.deliveriesOf(accountId, [eventId], MAX_DELIVERIES),
          length > MAX_AWAITED || length === 0 ? findFanOut(client, accountId, eventId) : undefined,
        ]);
        return { stored, fanOut };
      },
      ({ stored, fanOut }) => fanOut !== undefined || stored.length >= awaited,
    );
    const { event_kind: kind, sequence, is_test, named_endpoints, payload, kept } = event;
    const rows = new Set(stored.map(({ endpoint_id }) => endpoint_id));
    // What a fan-out has not started yet is told by how far that is.
    const others = fanOut ? [] : event.endpoint_ids.filter((id) => !rows.has(id));
    const begun = stored.map(summaryIn);
    return {
      ...{ id: eventId, kind, created_at: createdAt(eventId) },
      ...(sequence !== undefined && { sequence }),
      payload,
      is_erased: kept !== undefined && payload === undefined,
      fan_out: fanOutProgress(fanOut),
      deliveries: [...begun, ...others.map((id) => notBegun(event, id))].slice(0, MAX_DELIVERIES),
      ...(is_test && { is_test }),
      ...(named_endpoints && { named_endpoints }),
    };
  }

  /**
   * The workflow task that keeps failing, so that an event's deliveries are not started; `undefined` if there is none.
   */
  async failingFanOut(accountId: string, eventId: string): Promise<FailingTask | undefined> {
    const { client } = this.sources;
    const execution = await findFanOut(client, accountId, eventId);
    const task = execution && !execution.closeTime && (await readFailingTask(client, execution));
    return task && keepsFailing(task) ? task : undefined;
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
    const { records } = this.sources;
    if (asksForDeliveries(filter)) return eventsOfDeliveries(records, accountId, filter, limit, after);
    if (after !== undefined && !isId('event', after)) throw new InvalidCursorError();
    const found = await records.events(accountId, filter, limit + 1, after);
    const data = found.slice(0, limit).map(({ id, event_kind, sequence }) =>
      toEvent({
        event_id: id,
        event_kind,
        created_at: createdAt(id),
        ...(sequence !== undefined && { sequence }),
      }),
    );
    const last = data.at(-1);
    return { data, ...(found.length > limit && last && { after: last.id }) };
  }
}

/**
 * Events with a delivery that matches, in the order of the list of deliveries. Of several deliveries of an event that
 * match, the one to the oldest endpoint stands for it.
 */
async function eventsOfDeliveries(
  records: RecordReads,
  accountId: string,
  filter: DeliveryFilter,
  limit: number,
  after: string | undefined,
): Promise<Page<EventSummary>> {
  let below = after === undefined ? undefined : decodeCursor(after, CURSOR)[0];
  const data: EventSummary[] = [];
  for (let examined = 0; ; ) {
    const found = await records.deliveries(accountId, filter, { below }, COMPARED_AT_ONCE);
    examined += found.length;
    const event_ids = [...new Set(found.map(({ event_id }) => event_id))];
    const first = await records.firstOfEach(accountId, filter, event_ids);
    for (const one of found) {
      if (first.has(one.id)) data.push(toEvent(summaryIn(one)));
      if (data.length === limit && one !== found.at(-1)) return { data, after: encodeCursor([one.position]) };
    }
    if (found.length < COMPARED_AT_ONCE) return { data };
    below = found.at(-1)?.position;
    if (data.length >= limit || examined >= MAX_EXAMINED) return { data, after: encodeCursor([below]) };
  }
}

type EventFacts = Pick<DeliverySummary, 'event_id' | 'event_kind' | 'created_at' | 'sequence'>;

function toEvent({ event_id: id, event_kind: kind, created_at, sequence }: EventFacts): EventSummary {
  return { id, kind, created_at, ...(sequence !== undefined && { sequence }) };
}
