import type { Client } from '@temporalio/client';
import pLimit from 'p-limit';
import { type DeliveryRecord, isClosed } from '../../domain/delivery/delivery.js';
import { EVENT_ATTRIBUTE } from '../../domain/ledger/search-attributes.js';
import { clausesOf, type DeliveryFilter, matchingRows, needsRecords } from './delivery-filter.js';
import type { DeliveryRow, DeliverySummary } from './delivery-view.js';
import { findRuns, newestRuns } from './earlier-runs.js';
import { listExpanded } from './expanded-list.js';
import { readGroup } from './group-history.js';
import { isOneOf, toQuery } from './query.js';
import { readRecord } from './record.js';
import type { Execution, Page } from './visibility.js';

/** Histories that are read at once for one page. */
const READS_AT_ONCE = 20;
/** Executions and deliveries that are looked at for one page: it ends with fewer rows if not enough of them match. */
const MAX_EXAMINED = 500;

interface Item extends DeliveryRow {
  execution: Execution;
}

/**
 * The deliveries of an account that match a filter, or their events. Search attributes narrow executions down; the rest is compared with
 * their memos and records. A page that has looked at {@link MAX_EXAMINED} rows ends there, with a cursor, even if it has few rows or none.
 */
export class DeliveryList {
  private readonly client: Client;
  private readonly accountId: string;
  private readonly filter: DeliveryFilter;
  private readonly groups = new Map<string, ReturnType<typeof readGroup>>();
  private readonly limitReads = pLimit(READS_AT_ONCE);

  constructor(client: Client, accountId: string, filter: DeliveryFilter) {
    this.client = client;
    this.accountId = accountId;
    this.filter = filter;
  }

  /** A page of deliveries, each in its newest run: open ones first, then the latest closed. */
  deliveries(limit: number, after?: string): Promise<Page<DeliverySummary>> {
    return this.page((items) => this.matching(items), limit, after);
  }

  /** A page of events with a delivery that matches, each as its oldest endpoint's delivery that does. */
  events(limit: number, after?: string): Promise<Page<DeliverySummary>> {
    return this.page(async (items) => this.firstOfEvents(await this.matching(items)), limit, after);
  }

  private async page(
    keep: (items: Item[]) => Promise<Item[]>,
    limit: number,
    after: string | undefined,
  ): Promise<Page<DeliverySummary>> {
    const clauses = clausesOf(this.accountId, this.filter);
    if (!clauses) return { data: [] };
    const expand = (execution: Execution) => this.itemsOf(execution);
    const options = { expand, keep, maxExamined: MAX_EXAMINED };
    const { data, ...rest } = await listExpanded<Item>(this.client, clauses, options, limit, after);
    return { data: data.map(({ summary }) => summary), ...rest };
  }

  /** The deliveries of an execution that match, each at its index in the group. */
  private itemsOf(execution: Execution): (Item | undefined)[] {
    const items: (Item | undefined)[] = [];
    for (const row of matchingRows(execution, this.accountId, this.filter)) {
      const index = row.index ?? 0;
      while (items.length < index) items.push(undefined);
      items.push({ ...row, execution });
    }
    return items;
  }

  /** Leaves out runs that were sent again, and what does not match by its record. */
  private async matching(items: readonly Item[]): Promise<Item[]> {
    const summaries = items.map(({ summary }) => summary);
    // Only closed deliveries can have been sent again.
    const closed = summaries.filter(({ status }) => isClosed(status));
    const newest = new Set(newestRuns(summaries, await findRuns(this.client, this.accountId, closed)));
    const current = items.filter(({ summary }) => newest.has(summary));
    if (!needsRecords(this.filter)) return current;
    const matches = await Promise.all(current.map((item) => this.hasResult(item)));
    return current.filter((_, index) => matches[index]);
  }

  private async hasResult(item: Item): Promise<boolean> {
    const { error_code, status_code } = this.filter;
    const last = (await this.limitReads(() => this.recordOf(item)))?.attempts.at(-1);
    return (
      last !== undefined &&
      (error_code === undefined || last.error_code === error_code) &&
      (status_code === undefined || last.status_code === status_code)
    );
  }

  /** The history of a group is read once for all of its members. */
  private async recordOf({ execution, ...row }: Item): Promise<DeliveryRecord | undefined> {
    const { index } = row;
    if (execution.type !== 'deliverTogether' || index === undefined)
      return readRecord(this.client, execution, row);
    const reading = this.groups.get(execution.runId) ?? readGroup(this.client, execution);
    this.groups.set(execution.runId, reading);
    return (await reading)?.records[index] ?? undefined;
  }

  /**
   * Of several deliveries of an event one stands for it, wherever in the list the others are. If the filter names an endpoint, there is but
   * one.
   */
  private async firstOfEvents(items: readonly Item[]): Promise<Item[]> {
    if (items.length === 0) return [];
    const found = this.filter.endpoint_id === undefined ? await this.ofSameEvents(items) : items;
    const first = new Map<string, string>();
    for (const { summary } of found) {
      const known = first.get(summary.event_id);
      if (known === undefined || summary.id < known) first.set(summary.event_id, summary.id);
    }
    return items.filter(({ summary }) => summary.id === first.get(summary.event_id));
  }

  /** All deliveries of some items' events that match. */
  private async ofSameEvents(items: readonly Item[]): Promise<Item[]> {
    const events = new Set(items.map(({ summary }) => summary.event_id));
    const clauses = clausesOf(this.accountId, this.filter) ?? [];
    const query = toQuery([...clauses, isOneOf(EVENT_ATTRIBUTE.name, [...events])]);
    const others: Item[] = [];
    const known = new Set(items.map(({ summary }) => summary.id));
    for await (const execution of this.client.workflow.list({ query, pageSize: 1_000 }))
      for (const item of this.itemsOf(execution))
        if (item && events.has(item.summary.event_id) && !known.has(item.summary.id)) others.push(item);
    return [...items, ...(await this.matching(others))];
  }
}
