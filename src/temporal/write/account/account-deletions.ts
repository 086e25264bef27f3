import { type Client, WorkflowExecutionAlreadyStartedError, WorkflowNotFoundError } from '@temporalio/client';
import { TypedSearchAttributes } from '@temporalio/common';
import pLimit from 'p-limit';
import type { deleteAccount } from '../../../../workflows/index.js';
import {
  type AccountDeletion,
  type DeletionRequest,
  describeDeletion,
  NO_DELETION,
} from '../../../domain/access/account-deletion.js';
import { ACCOUNT_ATTRIBUTE } from '../../../domain/ledger/search-attributes.js';
import { accountDeletionWorkflowId } from '../../../domain/ledger/workflow-ids.js';
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

  constructor(client: Client, taskQueue: string) {
    this.client = client;
    this.taskQueue = taskQueue;
  }

  /** Starts an account's deletion, if it has not been started yet. Resolves once Temporal has persisted it. */
  async start(request: DeletionRequest): Promise<void> {
    const { account_id } = request;
    try {
      await this.client.workflow.start<typeof deleteAccount>('deleteAccount', {
        workflowId: accountDeletionWorkflowId(account_id),
        taskQueue: this.taskQueue,
        args: [request],
        // One that somebody has terminated in Temporal can be asked for again.
        workflowIdReusePolicy: 'ALLOW_DUPLICATE_FAILED_ONLY',
        memo: { deletion: NO_DELETION },
        staticSummary: describeDeletion(NO_DELETION).split(',')[0] ?? '',
        typedSearchAttributes: new TypedSearchAttributes([{ key: ACCOUNT_ATTRIBUTE, value: [account_id] }]),
      });
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    }
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
