import type { Client } from '@temporalio/client';
import { together } from '../../../domain/basics/bounded-memory.js';
import { type DeliveryKey, deliveryId } from '../../../domain/basics/delivery-id.js';
import { UNITS } from '../../../domain/basics/duration.js';
import { CLOSED_STATUSES } from '../../../domain/delivery/delivery.js';
import type { EventStore } from '../../../domain/delivery/stored-event.js';
import {
  DELIVERY_TYPE,
  parseDeliveryWorkflowId,
  parseFanOutWorkflowId,
} from '../../../domain/ledger/workflow-ids.js';
import type { RowSearch } from '../../../domain/records/row-search.js';
import type { TerminatedExecution, TerminatedExecutions } from '../../../domain/records/told.js';
import { isTemporalUnavailable } from '../../errors.js';
import { startedAt } from '../delivery-view.js';
import { readMembers } from '../group-members.js';
import { closingEvent, terminationOf } from '../history.js';
import { EVERY_ACCOUNT, where } from '../visibility/query.js';
import { describeExecution, type Execution, everyExecution } from '../visibility/visibility.js';

/** Executions whose rows are read together. */
const LOOKED_AT_ONCE = 500;
/** Deliveries that a fan-out has just started have a row within this, milliseconds. */
const HAVE_ROWS_MS = UNITS.m;

/** Sources of a {@link TerminatedExecutionFinder}. */
interface FinderSources {
  client: Client;
  taskQueue: string;
  events: Pick<EventStore, 'find'>;
  rows: Pick<RowSearch, 'closed'>;
}

/**
 * Executions that could not close the rows of their deliveries: somebody has terminated them in Temporal, or they timed
 * out or failed there. A fan-out among them stands for those of its deliveries that it has not started.
 */
export class TerminatedExecutionFinder implements TerminatedExecutions {
  private readonly sources: FinderSources;

  constructor(sources: FinderSources) {
    this.sources = sources;
  }

  async *since(
    time: Date,
    now: Date,
    onUnreadable: (error: unknown) => void,
  ): AsyncIterable<TerminatedExecution> {
    const { client, taskQueue } = this.sources;
    const clauses = where(EVERY_ACCOUNT, {
      taskQueue,
      type: [DELIVERY_TYPE, 'fanOutEvent'],
      status: ['Terminated', 'TimedOut', 'Failed'],
      closedSince: time,
    });
    for await (const some of together(everyExecution(client, clauses), LOOKED_AT_ONCE))
      for (const execution of await this.withOpenRows(some)) {
        const found = await this.read(execution, now).catch((error: unknown) => {
          if (isTemporalUnavailable(error)) throw error;
          onUnreadable(new Error(`${execution.workflowId} cannot be read`, { cause: error }));
        });
        if (found) yield found;
      }
  }

  /** Executions without those that failed as a delivery does that was given up: they have closed its row before. */
  private async withOpenRows(some: readonly Execution[]): Promise<Execution[]> {
    const idOf = ({ workflowId, status }: Execution) => {
      const key = status.name === 'FAILED' ? parseDeliveryWorkflowId(workflowId) : undefined;
      return key && deliveryId(key);
    };
    const ids = some.flatMap((one) => idOf(one) ?? []);
    const closed = ids.length > 0 ? await this.sources.rows.closed(ids) : new Set();
    return some.filter((one) => !closed.has(idOf(one) ?? ''));
  }

  /** @returns `undefined` of one that was reset, or started again: its latest run tells */
  private async read({ workflowId, runId }: Execution, now: Date): Promise<TerminatedExecution | undefined> {
    const { client } = this.sources;
    const latest = await describeExecution(client, workflowId);
    if (latest?.runId !== runId) return undefined;
    const closed_at = latest.closeTime ?? latest.startTime;
    const fanOut = parseFanOutWorkflowId(workflowId);
    // Deliveries that it has just started may have no row yet; the next run finds them.
    if (fanOut && closed_at.getTime() > now.getTime() - HAVE_ROWS_MS) return undefined;
    const event = await closingEvent(client, { workflowId, runId });
    const failure =
      event?.workflowExecutionFailedEventAttributes?.failure?.applicationFailureInfo?.type ?? '';
    // It has said itself how its delivery ended.
    if (CLOSED_STATUSES.some((status) => status === failure)) return undefined;
    const keys = fanOut
      ? await this.targetsOf(fanOut.event_id)
      : await readMembers(client, { workflowId, runId });
    const how = latest.status.name === 'FAILED' ? `failed in Temporal: ${failure}` : 'timed out in Temporal';
    return {
      run: {
        ...{ workflow_id: workflowId, run_id: runId, started_at: startedAt(latest) },
        ...(keys.length > 1 && { in_group: true as const }),
      },
      keys,
      reason: `Its execution ${how}.`,
      intervention: { action: 'terminate', at: closed_at.toISOString(), by: 'temporal' },
      ...(event && terminationOf(event)),
    };
  }

  private async targetsOf(event_id: string): Promise<DeliveryKey[]> {
    const stored = await this.sources.events.find(event_id);
    return (stored?.targets ?? []).map(({ endpoint_id }) => ({ event_id, endpoint_id }));
  }
}
