import type { Client } from '@temporalio/client';
import type { ArchiveReads } from '../../../domain/archive/archived.js';
import type { ClosedExecution, ClosedExecutions, ClosedWindow } from '../../../domain/archive/to-archive.js';
import { DELIVERY_STATUSES, isClosed } from '../../../domain/delivery/delivery.js';
import { DELIVERY_TYPE } from '../../../domain/ledger/workflow-ids.js';
import type { PayloadSealer } from '../../../domain/privacy/payload-sealer.js';
import { everyDeliveryOf, isCurrent } from '../delivery-view.js';
import { Opener } from '../privacy/opener.js';
import { equals, isAfter, isBefore, isNot, isOneOf, toQuery } from '../visibility/query.js';
import { isGroupWith } from '../visibility/status-clauses.js';
import { type Execution, listExecutions } from '../visibility/visibility.js';
import { closedHeadsOf, closedRowsOf, readClosed, readFanOut } from './closed-executions.js';
import { IncidentsOfPeriod } from './incidents-of-period.js';

/** Executions of one window, unless a single millisecond has more. */
const MAX_EXECUTIONS = 200;
const LIST_AT_ONCE = 1_000;
/** Incidents that ended earlier before a window than this are read one delivery at a time: longer than a delivery usually lasts. */
const INCIDENTS_SINCE_MS = 8 * 24 * 3_600_000;

/** What the executions that matter have in common: those of one task queue, as several installations can share a namespace. */
const ARCHIVED_TYPES = [DELIVERY_TYPE, 'fanOutEvent'];

/** Finds closed executions in the ledger by the time they closed. That never changes, so windows of it stand still. */
export class ClosedExecutionFinder implements ClosedExecutions {
  private readonly client: Client;
  private readonly taskQueue: string;
  private readonly opener: Opener;
  private readonly archive: ArchiveReads;
  private incidents: { since: Date; of: IncidentsOfPeriod } | undefined;

  constructor(client: Client, taskQueue: string, sealer: PayloadSealer, archive: ArchiveReads) {
    this.client = client;
    this.archive = archive;
    this.taskQueue = taskQueue;
    this.opener = new Opener(sealer);
  }

  async closedFrom(from: Date, end: Date, widthMs: number): Promise<ClosedWindow> {
    let to = new Date(Math.min(from.getTime() + widthMs, end.getTime()));
    for (;;) {
      const executions = await this.list(from, to);
      if (executions) return { from, to, executions: executions.map((one) => this.toClosed(one, from)) };
      to = new Date(from.getTime() + Math.floor((to.getTime() - from.getTime()) / 2));
    }
  }

  async *openGroups(): AsyncIterable<ClosedExecution> {
    const query = toQuery([
      equals('TaskQueue', this.taskQueue),
      equals('WorkflowType', DELIVERY_TYPE),
      equals('ExecutionStatus', 'Running'),
      ...isGroupWith(DELIVERY_STATUSES.filter(isClosed)),
    ]);
    for await (const execution of this.client.workflow.list({ query, pageSize: LIST_AT_ONCE }))
      yield this.toClosed(execution, execution.startTime);
  }

  /** Every execution that is open: how many of its deliveries are, and what has closed in it. */
  async *running(): AsyncIterable<{ open: number; closed: ClosedExecution }> {
    const query = toQuery([
      equals('TaskQueue', this.taskQueue),
      equals('WorkflowType', DELIVERY_TYPE),
      equals('ExecutionStatus', 'Running'),
    ]);
    for await (const execution of this.client.workflow.list({ query, pageSize: LIST_AT_ONCE })) {
      const open = everyDeliveryOf(execution).filter(({ summary }) => !isClosed(summary.status)).length;
      yield { open, closed: this.toClosed(execution, execution.startTime) };
    }
  }

  /** The executions that closed in a window; `undefined` if it has too many and can be made smaller. */
  private async list(from: Date, to: Date): Promise<Execution[] | undefined> {
    const clauses = [
      equals('TaskQueue', this.taskQueue),
      isOneOf('WorkflowType', ARCHIVED_TYPES),
      isCurrent,
      isNot('ExecutionStatus', 'Running'),
      // A millisecond more on both sides: SQL stores compare times as texts, which for a time with zeros at its end is not exact.
      isAfter('CloseTime', new Date(from.getTime() - 2)),
      isBefore('CloseTime', new Date(to.getTime() + 1)),
    ];
    const isSmallest = to.getTime() - from.getTime() <= 1;
    const executions: Execution[] = [];
    let after: string | undefined;
    do {
      const page = await listExecutions(
        this.client,
        clauses,
        isSmallest ? LIST_AT_ONCE : MAX_EXECUTIONS,
        after,
      );
      if (page.after !== undefined && !isSmallest) return undefined;
      executions.push(...page.data);
      after = page.after;
    } while (after !== undefined);
    return executions.filter(({ closeTime }) => closeTime && closeTime >= from && closeTime < to);
  }

  private toClosed(execution: Execution, from: Date): ClosedExecution {
    const heads = closedHeadsOf(execution);
    if (execution.type === 'fanOutEvent')
      return { runs: [], heads, read: () => readFanOut(this.client, execution) };
    const rows = closedRowsOf(execution);
    return {
      runs: rows.map(({ run }) => run),
      heads,
      read: (ids) =>
        readClosed(
          this.client,
          this.opener,
          execution,
          rows.filter(({ run }) => ids.has(run.id)),
          { incidents: this.incidentsFor(from), archive: this.archive },
        ),
    };
  }

  private incidentsFor(from: Date): IncidentsOfPeriod {
    const since = new Date(from.getTime() - INCIDENTS_SINCE_MS);
    if (!this.incidents || this.incidents.since > since)
      this.incidents = { since, of: new IncidentsOfPeriod(this.client, since) };
    return this.incidents.of;
  }
}
