import type { Client } from '@temporalio/client';
import type { ArchiveReads, ListedDelivery } from '../../../domain/archive/archived.js';
import {
  ACCOUNT_ATTRIBUTE,
  EVENT_ATTRIBUTE,
  EVENT_HEAD_ATTRIBUTE,
} from '../../../domain/ledger/search-attributes.js';
import { DELIVERY_TYPE } from '../../../domain/ledger/workflow-ids.js';
import type { DeliveryFilter } from '../../../domain/list/delivery-filter.js';
import { askedAttempts } from '../attempt-view.js';
import { DeliveryList, type LastAttempts, type ListedRow, type ReadEarlier } from '../delivery-list.js';
import {
  type DeliverySummary,
  deliveriesOf,
  headsOf,
  isCurrent,
  isOpenOrClosedSince,
  sinceClauses,
} from '../delivery-view.js';
import type { EventSummary } from '../event/event-view.js';
import type { ExpandedPage } from '../visibility/expanded-list.js';
import { type Clause, equals, isOneOf, isTrue, toQuery } from '../visibility/query.js';
import { lastAttemptIn, runsIn, summaryIn } from './archived-views.js';
import type { ArchivePart, BothLists, PlacedRow } from './merged-list.js';

/** Events in one query. */
const EVENTS_AT_ONCE = 100;
/** Deliveries of the events of one part that are read at once, to be compared. */
const COMPARED_AT_ONCE = 1_000;

/** What lists read from. */
export interface ListSources {
  client: Client;
  archive: ArchiveReads;
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
    ledger: async (limit, after, since) =>
      place(
        await new DeliveryList(client, accountId, { ...filter, since }, earlier, lastAttempts).deliveries(
          limit,
          after,
        ),
        (summary) => ({
          id: summary.id,
          value: summary,
        }),
      ),
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

/** The events of an account, as the executions that stand for them. Only what a filter says of events counts. */
export function eventLists(
  sources: ListSources,
  filter: DeliveryFilter,
  ledger: BothLists<EventSummary>['ledger'],
): BothLists<EventSummary> {
  const { client, archive, accountId } = sources;
  return {
    completeUntil: () => archive.completeUntil(),
    ledger,
    archive: async (range, limit) => {
      const found = await archive.events(accountId, filter, range, limit);
      const rows = found.map(({ id, event_kind: kind, accepted_at, position, sequence }) => ({
        id,
        value: {
          ...{ id, kind, created_at: accepted_at.toISOString() },
          ...(sequence !== undefined && { sequence }),
        },
        position,
      }));
      return partOf(found, limit, rows);
    },
    held: async (rows, since) => {
      const held = new Set<string>();
      const ids = rows.map(({ id }) => id);
      const heads = [isTrue(EVENT_HEAD_ATTRIBUTE.name)];
      for await (const execution of executionsOf(client, accountId, ids, heads, since))
        for (const id of headsOf(execution, accountId)) held.add(id);
      return held;
    },
  };
}

/** The events of an account with a delivery that matches a filter: of several the one to the oldest endpoint stands for the event. */
export function eventsOfDeliveryLists(sources: ListSources, filter: DeliveryFilter): BothLists<EventSummary> {
  const { client, archive, accountId } = sources;
  const list = () => new DeliveryList(client, accountId, filter);
  return {
    ledger: async (limit, after) => place(await list().events(limit, after), toEventRow),
    archive: async (range, limit) => {
      const found = await archive.deliveries(accountId, filter, range, limit);
      const first = await firstOfEvents(sources, filter, found);
      const rows = found
        .filter(({ id }) => first.has(id))
        .map((one) => ({ ...toEventRow(summaryIn(one)), position: one.position }));
      return partOf(found, limit, rows);
    },
    held: (rows) => list().eventsOf(rows.map(({ id }) => id)),
  };
}

/** The ids of archived deliveries that stand for their events, among all that match and that the ledger does not have. */
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
  const first = new Map<string, string>();
  for (const { id, event_id } of all) {
    const known = first.get(event_id);
    if (!held.has(id) && (known === undefined || id < known)) first.set(event_id, id);
  }
  return new Set(first.values());
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

/** The ids of those deliveries that the ledger has, in whatever run and status. @param since only if they are open, or closed since then */
async function heldDeliveries(
  { client, accountId }: ListSources,
  deliveries: readonly { id: string; event_id: string }[],
  since?: Date,
): Promise<Set<string>> {
  const held = new Set<string>();
  const ids = deliveries.map(({ event_id }) => event_id);
  const ofDeliveries = [equals('WorkflowType', DELIVERY_TYPE)];
  for await (const execution of executionsOf(client, accountId, ids, ofDeliveries, since))
    for (const { summary } of deliveriesOf(execution, accountId)) held.add(summary.id);
  return held;
}

/** The executions of some events of an account that Temporal still has. @param since only those that are open, or closed since then */
export async function* executionsOf(
  client: Client,
  accountId: string,
  eventIds: readonly string[],
  clauses: Clause[],
  since?: Date,
) {
  const ids = [...new Set(eventIds)];
  for (let first = 0; first < ids.length; first += EVENTS_AT_ONCE) {
    const query = toQuery([
      ...clauses,
      ...sinceClauses(since),
      isCurrent,
      equals(ACCOUNT_ATTRIBUTE.name, accountId),
      isOneOf(EVENT_ATTRIBUTE.name, ids.slice(first, first + EVENTS_AT_ONCE)),
    ]);
    for await (const execution of client.workflow.list({ query, pageSize: 1_000 }))
      if (isOpenOrClosedSince(execution, since)) yield execution;
  }
}

function toEventRow({ event_id: id, event_kind: kind, created_at, sequence }: DeliverySummary) {
  return { id, value: { id, kind, created_at, ...(sequence !== undefined && { sequence }) } };
}

function place<T>(
  { data, ...rest }: ExpandedPage<ListedRow>,
  rowOf: (summary: DeliverySummary) => Omit<PlacedRow<T>, 'position'>,
): ExpandedPage<PlacedRow<T>> {
  return { ...rest, data: data.map(({ summary, position }) => ({ ...rowOf(summary), position })) };
}

/** @param found everything that was looked at; @param limit how much was asked for */
function partOf<T>(
  found: readonly { position?: string | undefined }[],
  limit: number,
  rows: PlacedRow<T>[],
): ArchivePart<T> {
  return { rows, floor: found.at(-1)?.position, isDone: found.length < limit };
}
