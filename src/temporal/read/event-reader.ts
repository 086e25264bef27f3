import { UNITS } from '../../domain/basics/duration.js';
import { createdAt, idTime } from '../../domain/basics/id-time.js';
import { isId } from '../../domain/basics/ids.js';
import { MAX_STARTED_AT_ONCE } from '../../domain/delivery/delivery.js';
import { asksForDeliveries, type DeliveryFilter } from '../../domain/list/delivery-filter.js';
import type { RecordReads } from '../../domain/records/stored.js';
import { summaryIn } from '../../domain/records/stored-views.js';
import { sharedNow } from '../../domain/time/shared-time.js';
import type { DeliverySummary } from '../../domain/view/delivery-view.js';
import { InvalidCursorError } from '../errors.js';
import { notBegun } from './delivery-reader.js';
import { type EventSummary, type EventWithPayload, findFanOut, type OpenFanOut } from './event-view.js';
import { type LedgerSources, untilStored } from './locate.js';
import { readRowPage } from './row-pages.js';
import { unlessAway } from './unless-away.js';
import type { Page } from './visibility/visibility.js';

/** Deliveries that an event is read with; the list of deliveries has the others. */
const MAX_DELIVERIES = 500;

/** Reads of a young event with at most this many deliveries wait for all of their rows, which follow within moments. */
const MAX_AWAITED = 10;

/**
 * For so long after an event was accepted it is told how many of its deliveries have been started, milliseconds. Later
 * all are, and rows of those that have closed may be past their time.
 */
const FAN_OUT_TOLD_MS = UNITS.d;

/** Deliveries of whose events the first ones are looked for at once. */
const COMPARED_AT_ONCE = 100;

/** Reads events with their deliveries. */
export class EventReader {
  private readonly sources: Pick<LedgerSources, 'client' | 'records'>;

  constructor(sources: Pick<LedgerSources, 'client' | 'records'>) {
    this.sources = sources;
  }

  /** One event of an account; `undefined` if the account has no such event. */
  async get(accountId: string, eventId: string): Promise<EventWithPayload | undefined> {
    const { records } = this.sources;
    const event = await records.event(accountId, eventId);
    if (!event) return undefined;
    const { length } = event.endpoint_ids;
    const isFannedOut = length > MAX_STARTED_AT_ONCE;
    const isTold = isFannedOut && sharedNow() - idTime(eventId) < FAN_OUT_TOLD_MS;
    const awaited = isFannedOut ? 0 : length <= MAX_AWAITED ? length : 1;
    const [stored, started] = await Promise.all([
      untilStored(
        eventId,
        () => records.deliveriesOf(accountId, [eventId], MAX_DELIVERIES),
        (found) => found.length >= awaited,
      ),
      isTold ? records.countOf(accountId, eventId, length) : undefined,
    ]);
    const { event_kind: kind, sequence, is_test, named_endpoints, payload, kept } = event;
    const rows = new Set(stored.map(({ endpoint_id }) => endpoint_id));
    // A fan-out's own progress tells of deliveries that it has not started yet.
    const others = isFannedOut ? [] : event.endpoint_ids.filter((id) => !rows.has(id));
    const begun = stored.map(summaryIn);
    return {
      ...{ id: eventId, kind, created_at: createdAt(eventId) },
      ...(sequence !== undefined && { sequence }),
      payload,
      is_erased: kept !== undefined && payload === undefined,
      fan_out: started === undefined ? undefined : { started, total: length },
      deliveries: [...begun, ...others.map((id) => notBegun(event, id))].slice(0, MAX_DELIVERIES),
      ...(is_test && { is_test }),
      ...(named_endpoints && { named_endpoints }),
    };
  }

  /** See {@link findFanOut}; `away` if Temporal, which alone knows it, is away. */
  fanOut(accountId: string, eventId: string): Promise<OpenFanOut | 'away' | undefined> {
    const { client } = this.sources;
    return unlessAway(client, () => findFanOut(client, accountId, eventId), 'away' as const);
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
 * Events with a delivery that matches, in the order of the list of deliveries. If several deliveries of an event match,
 * the one to the oldest endpoint represents it.
 */
async function eventsOfDeliveries(
  records: RecordReads,
  accountId: string,
  filter: DeliveryFilter,
  limit: number,
  after: string | undefined,
): Promise<Page<EventSummary>> {
  return readRowPage(records, {
    ...{ accountId, filter, limit, after },
    atOnce: () => COMPARED_AT_ONCE,
    async take(rows) {
      const event_ids = [...new Set(rows.map(({ event_id }) => event_id))];
      const first = await records.firstOfEach(accountId, filter, event_ids);
      const standing = rows.filter(({ id }) => first.has(id));
      return standing.map((row) => ({ item: toEvent(summaryIn(row)), row }));
    },
  });
}

type EventFacts = Pick<DeliverySummary, 'event_id' | 'event_kind' | 'created_at' | 'sequence'>;

function toEvent({ event_id: id, event_kind: kind, created_at, sequence }: EventFacts): EventSummary {
  return { id, kind, created_at, ...(sequence !== undefined && { sequence }) };
}
