import type { ClosedExecution, ClosedExecutions, ClosedWindow } from '../../../domain/archive/to-archive.js';
import { DELIVERY_STATUSES, isClosed } from '../../../domain/delivery/delivery.js';
import { DELIVERY_TYPE } from '../../../domain/ledger/workflow-ids.js';
import { deliveriesOf } from '../delivery-view.js';
import type { LedgerSources } from '../locate.js';
import { IncidentsOfPeriod } from '../timeline/timeline-incidents.js';
import { EVERY_ACCOUNT, isGroupWith, where } from '../visibility/clauses.js';
import { type Clause, isNot } from '../visibility/query.js';
import { type Execution, everyExecution } from '../visibility/visibility.js';
import { CLOSED, readWindow } from '../visibility/windows.js';
import { closedRowsOf, readClosed } from './closed-executions.js';

/**
 * Incidents that ended earlier before a window than this are read one delivery at a time: longer than a delivery
 * usually lasts.
 */
const INCIDENTS_SINCE_MS = 8 * 24 * 3_600_000;

/** What is archived: executions of one task queue, as several installations can share a namespace. */
export interface ArchiveSources extends LedgerSources {
  taskQueue: string;
}

/** Finds closed executions in the ledger by the time they closed. That never changes, so windows of it stand still. */
export class ClosedExecutionFinder implements ClosedExecutions {
  private readonly sources: ArchiveSources;
  private incidents: { since: Date; of: IncidentsOfPeriod } | undefined;

  constructor(sources: ArchiveSources) {
    this.sources = sources;
  }

  async closedFrom(start: Date, end: Date, widthMs: number): Promise<ClosedWindow> {
    const clauses = [
      ...where(EVERY_ACCOUNT, { taskQueue: this.sources.taskQueue, type: DELIVERY_TYPE, isCurrent: true }),
      isNot('ExecutionStatus', 'Running'),
    ];
    const window = { from: start.getTime(), end: end.getTime(), width: widthMs };
    const { to, executions } = await readWindow(this.sources.client, clauses, CLOSED, window);
    return {
      from: start,
      to: new Date(to),
      executions: executions.map((execution) => this.toClosed(execution, start)),
    };
  }

  async *openGroups(): AsyncIterable<ClosedExecution> {
    const clauses = [...this.open(), ...isGroupWith(DELIVERY_STATUSES.filter(isClosed))];
    for await (const execution of everyExecution(this.sources.client, clauses))
      yield this.toClosed(execution, execution.startTime);
  }

  /** Every execution that is open: how many of its deliveries are, and what has closed in it. */
  async *running(): AsyncIterable<{ open: number; closed: ClosedExecution }> {
    for await (const execution of everyExecution(this.sources.client, this.open())) {
      const rows = deliveriesOf(execution, EVERY_ACCOUNT);
      const open = rows.filter(({ summary }) => !isClosed(summary.status)).length;
      yield { open, closed: this.toClosed(execution, execution.startTime) };
    }
  }

  private open(): Clause[] {
    return where(EVERY_ACCOUNT, {
      taskQueue: this.sources.taskQueue,
      type: DELIVERY_TYPE,
      status: 'Running',
    });
  }

  private toClosed(execution: Execution, from: Date): ClosedExecution {
    const rows = closedRowsOf(execution);
    return {
      runs: rows.map(({ run }) => run),
      read: (ids) => {
        const wanted = rows.filter(({ run }) => ids.has(run.id));
        return readClosed({ ...this.sources, incidents: this.incidentsFor(from) }, execution, wanted);
      },
    };
  }

  private incidentsFor(from: Date): IncidentsOfPeriod {
    const since = new Date(from.getTime() - INCIDENTS_SINCE_MS);
    if (!this.incidents || this.incidents.since > since)
      this.incidents = { since, of: new IncidentsOfPeriod(this.sources.client, since) };
    return this.incidents.of;
  }
}
