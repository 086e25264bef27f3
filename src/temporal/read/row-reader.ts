import type { Client } from '@temporalio/client';
import pLimit from 'p-limit';
import { madeOnce } from '../../domain/basics/bounded-memory.js';
import {
  type DeliveryRecord,
  isClosed,
  type ShownRecord,
  shownReason,
  shownRecord,
} from '../../domain/delivery/delivery.js';
import { endOf } from '../../domain/explain/timeline.js';
import { isGroup } from '../../domain/ledger/workflow-ids.js';
import type { DeliveryRow, DeliverySummary } from './delivery-view.js';
import type { GroupMemo } from './group/group-memo.js';
import { readGroupRecords } from './group/group-records.js';
import { readClosingRecords, readTermination, type Termination } from './history.js';
import type { Execution } from './visibility/visibility.js';

/** A delivery, and the execution that stands for it: its own, or a group's. */
export interface Located {
  execution: Execution;
  row: DeliveryRow;
}

/**
 * Reads what rows of a list do not say by themselves, so that every view of a delivery says the same. What several rows
 * have in common, such as the history of their group, is read once: a reader is for one response.
 */
export class RowReader {
  /** How many groups have been read. */
  groupsRead = 0;
  private readonly client: Client;
  /** Of histories that are read at once. */
  private readonly limit = pLimit(20);
  private readonly records = new Map<string, Promise<DeliveryRecord[]>>();
  private readonly terminations = new Map<string, Promise<Termination | undefined>>();

  constructor(client: Client) {
    this.client = client;
  }

  /**
   * A delivery as every list shows it. It costs a read if its row does not say why it waits, when it closed, or who
   * terminated it.
   */
  async summary({ execution, row }: Located): Promise<DeliverySummary> {
    if (saysEverything(execution, row)) return summarize(row.summary);
    return summarize(row.summary, await this.record({ execution, row }));
  }

  /** A delivery with its record. */
  async full(located: Located): Promise<{ summary: DeliverySummary; record: ShownRecord | undefined }> {
    const record = await this.record(located);
    const { execution, row } = located;
    // What the row of an open execution says may be some seconds old.
    const told = execution.status.name !== 'RUNNING' && saysEverything(execution, row);
    return { summary: summarize(row.summary, told ? undefined : record), record };
  }

  /** The whole record of a delivery: with which its execution closed, or as the history of that has it. */
  async record({ execution, row: { index } }: Located): Promise<ShownRecord | undefined> {
    const known = (await this.recordsOf(execution))[index];
    const record = known && shownRecord(known);
    return execution.status.name === 'RUNNING' ? record : this.ofTerminated(execution, record);
  }

  private recordsOf(execution: Execution): Promise<DeliveryRecord[]> {
    return madeOnce(this.records, execution.runId, () => {
      if (isGroup(execution.workflowId)) this.groupsRead += 1;
      return this.limit(() => this.read(execution));
    });
  }

  private async read(execution: Execution): Promise<DeliveryRecord[]> {
    const { name } = execution.status;
    const closed =
      name === 'COMPLETED' || name === 'FAILED'
        ? await readClosingRecords(this.client, execution)
        : undefined;
    return closed ?? (await readGroupRecords(this.client, execution));
  }

  /** If an execution was terminated, that is how its delivery ended, unless it had ended before. */
  private async ofTerminated(
    execution: Execution,
    record: ShownRecord | undefined,
  ): Promise<ShownRecord | undefined> {
    if (execution.status.name !== 'TERMINATED' || (record && isClosed(record.status))) return record;
    const termination = await madeOnce(this.terminations, execution.runId, () =>
      this.limit(() => readTermination(this.client, execution)),
    );
    if (!termination) return record;
    const { next_attempt_at: _, attempts = [], interventions = [] } = record ?? {};
    return {
      status: 'terminated',
      attempts,
      reason: termination.reason,
      closed_at: termination.intervention.at,
      interventions: [...interventions, termination.intervention],
    };
  }
}

/** Whether a row tells all that lists show of a delivery. */
function saysEverything({ workflowId, status, memo }: Execution, { summary }: DeliveryRow): boolean {
  if (status.name === 'TERMINATED') return false;
  const isTold =
    !isClosed(summary.status) && (summary.status === 'delivering' || summary.reason !== undefined);
  if (!isGroup(workflowId)) return isTold || status.name !== 'RUNNING';
  // A group that never had to show anything has its deliveries under way, or delivered them all together.
  if ((memo as Partial<GroupMemo> | undefined)?.states === undefined) return true;
  return isTold;
}

function summarize(summary: DeliverySummary, record?: ShownRecord): DeliverySummary {
  const { status, next_attempt_at, reason } = record ?? summary;
  const closed_at = (record && endOf(record)) ?? summary.closed_at;
  return { ...summary, status, next_attempt_at, closed_at, reason: shownReason(status, reason) };
}
