import type { Client } from '@temporalio/client';
import { DELIVERY_TYPE } from '../../../domain/ledger/workflow-ids.js';
import type { TerminatedExecution, TerminatedExecutions } from '../../../domain/records/told.js';
import { isTemporalUnavailable } from '../../errors.js';
import { startedAt } from '../delivery-view.js';
import { readMembers } from '../group-members.js';
import { readTermination } from '../history.js';
import { EVERY_ACCOUNT, where } from '../visibility/clauses.js';
import { isOneOf } from '../visibility/query.js';
import { describeExecution, everyExecution } from '../visibility/visibility.js';

/** Executions of deliveries that somebody has terminated in Temporal. */
export class TerminatedExecutionFinder implements TerminatedExecutions {
  private readonly client: Client;
  private readonly taskQueue: string;

  constructor(client: Client, taskQueue: string) {
    this.client = client;
    this.taskQueue = taskQueue;
  }

  async *since(time: Date, onUnreadable: (error: unknown) => void): AsyncIterable<TerminatedExecution> {
    const clauses = [
      ...where(EVERY_ACCOUNT, { taskQueue: this.taskQueue, type: DELIVERY_TYPE, since: time }),
      isOneOf('ExecutionStatus', ['Terminated', 'TimedOut']),
    ];
    for await (const { workflowId, runId } of everyExecution(this.client, clauses)) {
      const found = await this.read(workflowId, runId).catch((error: unknown) => {
        if (isTemporalUnavailable(error)) throw error;
        onUnreadable(new Error(`${workflowId} cannot be read`, { cause: error }));
      });
      if (found) yield found;
    }
  }

  /** @returns `undefined` of one that was reset, or started again: its latest run tells */
  private async read(workflowId: string, runId: string): Promise<TerminatedExecution | undefined> {
    const latest = await describeExecution(this.client, workflowId);
    if (latest?.runId !== runId) return undefined;
    const run = { workflowId, runId };
    const [keys, termination] = await Promise.all([
      readMembers(this.client, run),
      readTermination(this.client, run),
    ]);
    const at = (latest.closeTime ?? latest.startTime).toISOString();
    return {
      run: {
        ...{ workflow_id: workflowId, run_id: runId, started_at: startedAt(latest) },
        ...(keys.length > 1 && { in_group: true as const }),
      },
      keys,
      reason: termination?.reason ?? 'Its execution timed out in Temporal.',
      intervention: termination?.intervention ?? { action: 'terminate', at, by: 'temporal' },
    };
  }
}
