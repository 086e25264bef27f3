import { type Client, WorkflowExecutionAlreadyStartedError, WorkflowNotFoundError } from '@temporalio/client';
import { TypedSearchAttributes } from '@temporalio/common';
import pLimit from 'p-limit';
import type { deleteAccount } from '../../../../workflows/index.js';
import {
  type AccountDeletion,
  type DeletionRequest,
  describeDeletion,
  newDeletion,
} from '../../../domain/access/account-deletion.js';
import { ACCOUNT_ATTRIBUTE } from '../../../domain/ledger/search-attributes.js';
import { accountDeletionWorkflowId } from '../../../domain/ledger/workflow-ids.js';
import { TIMINGS, type Timings, timingsOfInput } from '../../../domain/timings.js';
import { equals, isOneOf } from '../../read/visibility/query.js';
import { describeExecution, listExecutions } from '../../read/visibility/visibility.js';

/** Workflow types that look after single endpoints, and have nothing to do once those are gone. */
const ENDPOINT_TYPES = ['endpointIncident', 'releaseParked', 'secretRotation', 'verifyEndpoint'];
/** Executions in one call, and cancelled at once. */
const PAGE = 500;
const CANCELS_AT_ONCE = 10;

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
   * @returns whether it does what is asked for; `false` if one is under way that keeps the payloads which this one should erase
   */
  async start(request: DeletionRequest): Promise<boolean> {
    const { account_id } = request;
    const deletion = newDeletion(request);
    const erases = deletion.keys_erased !== undefined;
    try {
      await this.client.workflow.start<typeof deleteAccount>('deleteAccount', {
        workflowId: accountDeletionWorkflowId(account_id),
        taskQueue: this.taskQueue,
        args: [{ ...request, ...timingsOfInput(this.timings) }],
        // One that somebody has terminated in Temporal can be asked for again, and the payloads that an earlier one has kept can be erased.
        workflowIdReusePolicy: erases ? 'ALLOW_DUPLICATE' : 'ALLOW_DUPLICATE_FAILED_ONLY',
        memo: { deletion },
        staticSummary: describeDeletion(deletion).split(',')[0] ?? '',
        typedSearchAttributes: new TypedSearchAttributes([{ key: ACCOUNT_ATTRIBUTE, value: [account_id] }]),
      });
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      return !erases || (await this.progress(account_id))?.keys_erased !== undefined;
    }
    return true;
  }

  /** How far an account's deletion is; `undefined` if none has been started, or it is not kept any more. */
  async progress(accountId: string): Promise<AccountDeletion | undefined> {
    const execution = await describeExecution(this.client, accountDeletionWorkflowId(accountId));
    return execution?.memo?.['deletion'] as AccountDeletion | undefined;
  }

  /** Cancels the executions that look after the endpoints of an account. */
  async endEndpointWorkflows(accountId: string): Promise<void> {
    const clauses = [
      isOneOf('WorkflowType', ENDPOINT_TYPES),
      equals('ExecutionStatus', 'Running'),
      equals(ACCOUNT_ATTRIBUTE.name, accountId),
    ];
    const limit = pLimit(CANCELS_AT_ONCE);
    let after: string | undefined;
    do {
      const page = await listExecutions(this.client, clauses, PAGE, after);
      await Promise.all(
        page.data.map(({ workflowId, runId }) => limit(() => this.cancel(workflowId, runId))),
      );
      after = page.after;
    } while (after !== undefined);
  }

  private async cancel(workflowId: string, runId: string): Promise<void> {
    try {
      await this.client.workflow.getHandle(workflowId, runId).cancel();
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) throw error; // it has closed since
    }
  }
}
