import type { Client } from '@temporalio/client';
import type { ArchiveReads, ListedDelivery } from '../../../domain/archive/archived.js';
import { inParts } from '../../../domain/basics/bounded-memory.js';
import { DELIVERY_TYPE } from '../../../domain/ledger/workflow-ids.js';
import type { DeliveryFilter } from '../../../domain/list/delivery-filter.js';
import { askedAttempts } from '../attempt-view.js';
import { DeliveryList, type ReadEarlier } from '../delivery-list.js';
import { type DeliverySummary, deliveriesOf } from '../delivery-view.js';
import type { EventSummary } from '../event-view.js';
import type { LedgerSources } from '../locate.js';
import type { LastAttempts } from '../row-extras.js';
import { isOpenOrClosedSince, type Sought, where } from '../visibility/clauses.js';
import { everyExecution } from '../visibility/visibility.js';
import { lastAttemptIn, runsIn, summaryIn } from './archived-views.js';
import { type ArchivePart, type BothLists, firstOfEach, type PlacedRow } from './merged-list.js';

/** Events in one query. */
const EVENTS_AT_ONCE = 100;
/** Deliveries of the events of one part that are read at once, to be compared. */
const COMPARED_AT_ONCE = 1_000;

/** What lists read from. */
export interface ListSources extends Pick<LedgerSources, 'client' | 'archive'> {
  accountId: string;
  /** Tells the latest attempt of each row; absent: none is told. */
  lastAttempts?: LastAttempts | undefined;
}

/**
 * The deliveries of an account that match a filter.
 *
 * @param earlier reads runs before a delivery was sent again, for a filter by attempts
 */
export function deliveryLists(
  sources: ListSources,
  filter: DeliveryFilter,
  earlier: ReadEarlier,
): BothLists<DeliverySummary> {
  const { client, archive, accountId, lastAttempts } = sources;
  return {
    completeUntil: () => archive.completeUntil(),
    ledger: (limit, after, since) => {
      const list = new DeliveryList(client, accountId, { ...filter, since }, earlier, lastAttempts);
      return list.deliveries(limit, after);
    },
    archive: async (range, limit) => {
      const found = await archive.deliveries(accountId, filter, range, limit);
      const rows = found.map((one) => ({
        id: one.id,
        value: { ...summaryIn(one), ...(lastAttempts && lastAttemptIn(one)) },
        position: one.position,
      }));
      return partOf(found, limit, filter.any_attempt ? await withAttempts(sources, filter, rows) : rows);
    },
    held: (rows, since) =>
      heldDeliveries(
        sources,
        rows.map(({ value }) => value),
        since,
      ),
  };
}

/** Those of some archived deliveries that have an attempt which is asked for, with these attempts. */
async function withAttempts(
  { archive, accountId }: ListSources,
  { any_attempt = {} }: DeliveryFilter,
  rows: readonly PlacedRow<DeliverySummary>[],
): Promise<PlacedRow<DeliverySummary>[]> {
  const whole = await archive.whole(
    accountId,
    rows.map(({ id }) => id),
  );
  return rows.flatMap((row) => {
    const archived = whole.get(row.id);
    const matching_attempts = archived ? askedAttempts(runsIn(archived), any_attempt) : [];
    return matching_attempts.length > 0 ? [{ ...row, value: { ...row.value, matching_attempts } }] : [];
  });
}

/**
 * The events of an account with a delivery that matches a filter: of several the one to the oldest endpoint stands for
 * the event.
 */
export function eventsOfDeliveryLists(sources: ListSources, filter: DeliveryFilter): BothLists<EventSummary> {
  const { client, archive, accountId } = sources;
  const list = () => new DeliveryList(client, accountId, filter);
  return {
    ledger: async (limit, after) => {
      const { data, ...rest } = await list().events(limit, after);
      return { ...rest, data: data.map(({ value, position }) => toEventRow({ ...value, position })) };
    },
    archive: async (range, limit) => {
      const found = await archive.deliveries(accountId, filter, range, limit);
      const first = await firstOfEvents(sources, filter, found);
      const rows = found
        .filter(({ id }) => first.has(id))
        .map((one) => toEventRow({ ...summaryIn(one), position: one.position }));
      return partOf(found, limit, rows);
    },
    held: (rows) => list().eventsOf(rows.map(({ id }) => id)),
  };
}

/**
 * The ids of archived deliveries that stand for their events, among all that match and that the ledger does not have.
 */
async function firstOfEvents(
  sources: ListSources,
  filter: DeliveryFilter,
  found: readonly ListedDelivery[],
): Promise<Set<string>> {
  if (found.length === 0) return new Set();
  const { archive, accountId } = sources;
  const event_ids = [...new Set(found.map(({ event_id }) => event_id))];
  const all =
    filter.endpoint_id === undefined
      ? await allDeliveries(archive, accountId, { ...filter, event_ids })
      : found;
  const held = await heldDeliveries(sources, all);
  return firstOfEach(all.filter(({ id }) => !held.has(id)));
}

async function allDeliveries(
  archive: ArchiveReads,
  accountId: string,
  filter: DeliveryFilter & { event_ids: readonly string[] },
): Promise<ListedDelivery[]> {
  const all: ListedDelivery[] = [];
  for (let below: string | undefined; ; below = all.at(-1)?.position) {
    const found = await archive.deliveries(accountId, filter, { below }, COMPARED_AT_ONCE);
    all.push(...found);
    if (found.length < COMPARED_AT_ONCE) return all;
  }
}

/**
 * The ids of those deliveries that the ledger has, in whatever run and status.
 *
 * @param since only if they are open, or closed since then
 */
async function heldDeliveries(
  { client, accountId }: ListSources,
  deliveries: readonly { id: string; event_id: string }[],
  since?: Date,
): Promise<Set<string>> {
  const held = new Set<string>();
  const ids = deliveries.map(({ event_id }) => event_id);
  for await (const execution of executionsOf(client, accountId, ids, { type: DELIVERY_TYPE }, since))
    for (const { summary } of deliveriesOf(execution, accountId)) held.add(summary.id);
  return held;
}

/** The ids of those of some events that an endpoint has got, in whichever run of their deliveries. */
export async function deliveredEvents(
  { client, archive, accountId }: ListSources,
  endpointId: string,
  eventIds: readonly string[],
): Promise<Set<string>> {
  if (eventIds.length === 0) return new Set();
  const wanted = new Set(eventIds);
  const delivered = new Set<string>();
  const sought = { type: DELIVERY_TYPE, endpoint: endpointId };
  for await (const execution of executionsOf(client, accountId, eventIds, sought))
    for (const { summary } of deliveriesOf(execution, accountId))
      if (
        summary.endpoint_id === endpointId &&
        summary.status === 'delivered' &&
        wanted.has(summary.event_id)
      )
        delivered.add(summary.event_id);
  const filter = { endpoint_id: endpointId, event_ids: eventIds, statuses: ['delivered'] } as const;
  for (const { event_id } of await archive.deliveries(accountId, filter, {}, eventIds.length))
    delivered.add(event_id);
  return delivered;
}

/**
 * The executions of some events of an account that Temporal still has.
 *
 * @param since only those that are open, or closed since then
 */
async function* executionsOf(
  client: Client,
  accountId: string,
  eventIds: readonly string[],
  sought: Sought,
  since?: Date,
) {
  for (const event of inParts([...new Set(eventIds)], EVENTS_AT_ONCE)) {
    const clauses = where(accountId, { ...sought, since, isCurrent: true, event });
    for await (const execution of everyExecution(client, clauses))
      if (isOpenOrClosedSince(execution, since)) yield execution;
  }
}

type EventFacts = Pick<DeliverySummary, 'event_id' | 'event_kind' | 'created_at' | 'sequence'>;

function toEventRow(event: EventFacts & { position?: string | undefined }): PlacedRow<EventSummary> {
  const { event_id: id, event_kind: kind, created_at, sequence, position } = event;
  return { id, value: { id, kind, created_at, ...(sequence !== undefined && { sequence }) }, position };
}

/** @param found everything that was looked at; @param limit how much was asked for */
function partOf<T>(
  found: readonly { position?: string | undefined }[],
  limit: number,
  rows: PlacedRow<T>[],
): ArchivePart<T> {
  return { rows, floor: found.at(-1)?.position, isDone: found.length < limit };
}
