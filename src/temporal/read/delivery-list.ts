import type { Client } from '@temporalio/client';
import { positionAt } from '../../domain/archive/archived.js';
import { firstOfEach, type PlacedRow } from './archive/merged-list.js';
import { type AskedAttempt, askedAttempts } from './attempt-view.js';
import {
  asksForResult,
  clausesOf,
  hasResult,
  type LedgerFilter,
  matchingRows,
  needsRecords,
} from './delivery-filter.js';
import type { DeliverySummary, EarlierRun } from './delivery-view.js';
import { findRuns, newestRuns, previousRun } from './earlier-runs.js';
import type { LastAttempts } from './row-extras.js';
import { type Located, RowReader } from './row-reader.js';
import { SOUGHT_BY, type Whose } from './visibility/clauses.js';
import { type ExpandedPage, listExpanded } from './visibility/expanded-list.js';
import { type Execution, everyExecution } from './visibility/visibility.js';

/** Executions and deliveries that are looked at for one page: it ends with fewer rows if not enough of them match. */
export const MAX_EXAMINED = 500;
/** Histories of groups, some 100 KiB each, that are read for one page, about: after them it ends in the same way. */
const MAX_GROUPS_READ = 6;

/** Reads the runs of a delivery before it was sent again. */
export type ReadEarlier = (item: Located) => Promise<EarlierRun[]>;

/** Deliveries that were sent again whose earlier runs are read for one page, about: up to ten histories each. */
const MAX_RESENT = 50;

/** A delivery of a list, and whose it is. */
export type ListedRow = PlacedRow<DeliverySummary> & { account_id: string };

/**
 * The deliveries of an account, or of all, that match a filter, or their events. Search attributes narrow executions
 * down; the rest is compared with their memos and records. A page that has looked at {@link MAX_EXAMINED} rows, or read
 * {@link MAX_GROUPS_READ} groups, ends there, with a cursor, even if it has few rows or none.
 */
export class DeliveryList {
  private readonly client: Client;
  private readonly whose: Whose;
  private readonly filter: LedgerFilter;
  private readonly rows: RowReader;
  private readonly lastAttempts: LastAttempts | undefined;
  private readonly earlier: ReadEarlier;
  /** Deliveries whose earlier runs have been read. */
  private resent = 0;
  /** The attempts of deliveries that match, as far as they were asked for. */
  private readonly asked = new WeakMap<Located, AskedAttempt[]>();

  /**
   * @param earlier reads runs before a delivery was sent again, for a filter by attempts
   * @param lastAttempts tells the latest attempt of each row; absent: none is told
   */
  constructor(
    client: Client,
    whose: Whose,
    filter: LedgerFilter,
    earlier: ReadEarlier = async () => [],
    lastAttempts?: LastAttempts,
  ) {
    this.lastAttempts = lastAttempts;
    this.earlier = earlier;
    this.client = client;
    this.whose = whose;
    this.filter = filter;
    this.rows = new RowReader(client);
  }

  /** A page of deliveries, each in its newest run: open ones first, then the latest closed. */
  deliveries(limit: number, after?: string): Promise<ExpandedPage<ListedRow>> {
    return this.page((items) => this.matching(items), limit, after);
  }

  /** A page of events with a delivery that matches, each as its oldest endpoint's delivery that does. */
  events(limit: number, after?: string): Promise<ExpandedPage<ListedRow>> {
    return this.page(async (items) => this.firstOfEvents(await this.matching(items)), limit, after);
  }

  private async page(
    keep: (items: Located[]) => Promise<Located[]>,
    limit: number,
    after: string | undefined,
  ): Promise<ExpandedPage<ListedRow>> {
    const clauses = clausesOf(this.whose, this.filter);
    if (!clauses) return { data: [] };
    const expand = (execution: Execution) => this.itemsOf(execution);
    const isSpent = () => this.rows.groupsRead >= MAX_GROUPS_READ || this.resent >= MAX_RESENT;
    const options = { expand, keep, maxExamined: MAX_EXAMINED, isSpent };
    const { data, ...rest } = await listExpanded<Located>(this.client, clauses, options, limit, after);
    return { data: await Promise.all(data.map((located) => this.listed(located))), ...rest };
  }

  /** A row as the list shows it. */
  private async listed(located: Located): Promise<ListedRow> {
    const { execution, row } = located;
    const [summary, last_attempt] = await Promise.all([
      this.rows.summary(located),
      this.lastAttempts?.of(located, this.rows),
    ]);
    const matching_attempts = this.asked.get(located);
    return {
      account_id: row.account_id,
      id: summary.id,
      value: {
        ...summary,
        ...(last_attempt && { last_attempt }),
        ...(matching_attempts && { matching_attempts }),
      },
      position: execution.closeTime && positionAt(execution.closeTime, execution.runId, row.index),
    };
  }

  /** The ids of those events that have a delivery which matches. */
  async eventsOf(ids: readonly string[]): Promise<Set<string>> {
    const found = await this.ofEvents(new Set(ids), new Set());
    return new Set(found.map(({ row }) => row.summary.event_id));
  }

  /** The deliveries of an execution that match, each at its index in the group, where a cursor finds it again. */
  private itemsOf(execution: Execution): (Located | undefined)[] {
    const placed: (Located | undefined)[] = [];
    for (const row of matchingRows(execution, this.whose, this.filter)) {
      while (placed.length < row.index) placed.push(undefined);
      placed.push({ execution, row });
    }
    return placed;
  }

  /** Leaves out runs that were sent again, and what does not match by its record. */
  private async matching(items: readonly Located[]): Promise<Located[]> {
    const current = newestRuns(items, await findRuns(this.client, items, this.whose));
    if (!needsRecords(this.filter)) return current;
    const matches = await Promise.all(current.map((item) => this.hasResult(item)));
    return current.filter((_, index) => matches[index]);
  }

  private async hasResult(item: Located): Promise<boolean> {
    const { any_attempt } = this.filter;
    if (asksForResult(this.filter) && !(await hasResult(item, this.filter, this.rows))) return false;
    if (!any_attempt) return true;
    const { attempts = [] } = (await this.rows.record(item)) ?? {};
    const isResent = previousRun(item.execution) !== undefined;
    if (isResent) this.resent += 1;
    const earlier = isResent ? await this.earlier(item) : [];
    const asked = askedAttempts([{ run_id: item.execution.runId, attempts }, ...earlier], any_attempt);
    this.asked.set(item, asked);
    return asked.length > 0;
  }

  /**
   * Of several deliveries of an event one stands for it, wherever in the list the others are. If the filter names an
   * endpoint, there is but one.
   */
  private async firstOfEvents(items: readonly Located[]): Promise<Located[]> {
    if (items.length === 0) return [];
    const found = this.filter.endpoint_id === undefined ? await this.ofSameEvents(items) : items;
    const first = firstOfEach(found.map(({ row }) => row.summary));
    return items.filter(({ row }) => first.has(row.summary.id));
  }

  /** All deliveries of some items' events that match. */
  private async ofSameEvents(items: readonly Located[]): Promise<Located[]> {
    const events = new Set(items.map(({ row }) => row.summary.event_id));
    const known = new Set(items.map(({ row }) => row.summary.id));
    return [...items, ...(await this.ofEvents(events, known))];
  }

  private async ofEvents(events: ReadonlySet<string>, known: ReadonlySet<string>): Promise<Located[]> {
    const clauses = clausesOf(this.whose, this.filter);
    if (!clauses) return [];
    const ofEvents = [...clauses, SOUGHT_BY.event([...events], undefined)];
    const others: Located[] = [];
    for await (const execution of everyExecution(this.client, ofEvents))
      for (const item of this.itemsOf(execution))
        if (item && events.has(item.row.summary.event_id) && !known.has(item.row.summary.id))
          others.push(item);
    return this.matching(others);
  }
}
