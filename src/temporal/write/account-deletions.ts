import type { Client, WorkflowHandle } from '@temporalio/client';
import { TypedSearchAttributes } from '@temporalio/common';
import pLimit from 'p-limit';
import type { deleteAccount } from '../../../workflows/index.js';
import {
  type AccountDeletion,
  type DeletionRequest,
  describeDeletion,
  newDeletion,
} from '../../domain/access/account-deletion.js';
import { together } from '../../domain/basics/bounded-memory.js';
import { ACCOUNT_ATTRIBUTE } from '../../domain/ledger/search-attributes.js';
import { accountDeletionWorkflowId } from '../../domain/ledger/workflow-ids.js';
import { TIMINGS, type Timings, timingsOfInput } from '../../domain/timings.js';
import { startedNow, unlessGone } from '../errors.js';
import { unlessAway } from '../read/unless-away.js';
import { where } from '../read/visibility/query.js';
import { describeExecution, everyExecution } from '../read/visibility/visibility.js';

/** Workflow types that look after single endpoints, and have nothing to do once those are gone. */
const ENDPOINT_TYPES = ['endpointIncident', 'releaseParked', 'secretRotation', 'verifyEndpoint'];
/** Number of executions that are listed before they are ended. */
const ENDED_TOGETHER = 500;

/** Deletions of accounts: durable, one for each account. */
export class AccountDeletions {
  private readonly client: Client;
  private readonly taskQueue: string;
  private readonly timings: Timings;

  constructor(client: Client, taskQueue: string, timings: Timings = TIMINGS) {
    this.client = client;
    this.taskQueue = taskQueue;
    this.timings = timings;
  }

  /**
   * Starts an account's deletion, if it has not been started yet. Resolves once Temporal has persisted it.
   *
   * @returns whether it does what is asked for; `false` if one is under way that keeps the payloads which this one
   * should erase
   */
  async start(request: DeletionRequest): Promise<boolean> {
    const { account_id } = request;
    const deletion = newDeletion(request);
    const erases = deletion.keys_erased !== undefined;
    const start = this.client.workflow.start<typeof deleteAccount>('deleteAccount', {
      workflowId: accountDeletionWorkflowId(account_id),
      taskQueue: this.taskQueue,
      args: [{ ...request, ...timingsOfInput(this.timings) }],
      // One that somebody has terminated in Temporal can be asked for again, and the payloads that an earlier one has
      // kept can be erased.
      workflowIdReusePolicy: erases ? 'ALLOW_DUPLICATE' : 'ALLOW_DUPLICATE_FAILED_ONLY',
      memo: { deletion },
      staticSummary: describeDeletion(deletion).split(',')[0] ?? '',
      typedSearchAttributes: new TypedSearchAttributes([{ key: ACCOUNT_ATTRIBUTE, value: [account_id] }]),
    });
    if ((await startedNow(start)) || !erases) return true;
    return (await this.progress(account_id))?.keys_erased !== undefined;
  }

  /** How far an account's deletion is; `undefined` if none has been started, or it is not kept any more. */
  async progress(accountId: string): Promise<AccountDeletion | undefined> {
    const execution = await describeExecution(this.client, accountDeletionWorkflowId(accountId));
    return execution?.memo?.['deletion'] as AccountDeletion | undefined;
  }

  /** The same; `undefined` also while Temporal is away. */
  shownProgress(accountId: string): Promise<AccountDeletion | undefined> {
    return unlessAway(this.client, () => this.progress(accountId), undefined);
  }

  /** Cancels the executions that look after the endpoints of an account. */
  endEndpointWorkflows(accountId: string): Promise<void> {
    return this.endEach(accountId, ENDPOINT_TYPES, (execution) => execution.cancel());
  }

  /** Terminates the executions that send an account's scheduled events: until they are due, a cancellation waits. */
  endScheduled(accountId: string): Promise<void> {
    return this.endEach(accountId, ['sendScheduled'], (one) => one.terminate('The account is deleted.'));
  }

  private async endEach(
    accountId: string,
    type: string[],
    end: (execution: WorkflowHandle) => Promise<unknown>,
  ): Promise<void> {
    const limit = pLimit(10);
    const running = everyExecution(this.client, where(accountId, { type, status: 'Running' }));
    for await (const some of together(running, ENDED_TOGETHER))
      await limit.map(some, ({ workflowId, runId }) =>
        unlessGone(end(this.client.workflow.getHandle(workflowId, runId))),
      );
  }
}
