import type { Client } from '@temporalio/client';
import type { sendScheduled } from '../../../../workflows/index.js';
import { ledgerAttributes } from '../../../domain/ledger/search-attributes.js';
import { fitSummary } from '../../../domain/ledger/summaries.js';
import { scheduledWorkflowId } from '../../../domain/ledger/workflow-ids.js';
import { sharedNow } from '../../../domain/time/shared-time.js';
import { startedNow, unlessGone } from '../../errors.js';

/** A scheduled event, as far as its execution needs to know it. */
export interface ScheduledExecution {
  account_id: string;
  id: string;
  event_kind: string;
  due_at: Date;
}

/** The executions that send scheduled events when they are due. */
export class ScheduledExecutions {
  private readonly client: Client;
  private readonly taskQueue: string;

  constructor(client: Client, taskQueue: string) {
    this.client = client;
    this.taskQueue = taskQueue;
  }

  /**
   * Starts it with a delay, during which Temporal wakes it by nothing.
   *
   * @param conflict with one that is there already: nothing is started, or it is replaced
   * @returns whether it was started by this
   */
  start(
    { account_id, id, event_kind, due_at }: ScheduledExecution,
    conflict: 'FAIL' | 'TERMINATE_EXISTING' = 'FAIL',
  ): Promise<boolean> {
    return startedNow(
      this.client.workflow.start<typeof sendScheduled>('sendScheduled', {
        workflowId: scheduledWorkflowId(account_id, id),
        taskQueue: this.taskQueue,
        args: [{ account_id, id }],
        workflowIdConflictPolicy: conflict,
        startDelay: Math.max(0, due_at.getTime() - sharedNow()),
        staticSummary: fitSummary(`${event_kind} at ${due_at.toISOString()}`),
        typedSearchAttributes: ledgerAttributes({ accounts: [account_id], events: [id], kind: event_kind }),
      }),
    );
  }

  /** Ends it: its event was cancelled. */
  async end({ account_id, id }: Pick<ScheduledExecution, 'account_id' | 'id'>): Promise<void> {
    const handle = this.client.workflow.getHandle(scheduledWorkflowId(account_id, id));
    await unlessGone(handle.terminate('The event was cancelled.'));
  }
}
