import { type Client, type WorkflowExecutionInfo, WorkflowNotFoundError } from '@temporalio/client';
import { executionInfoFromRaw } from '@temporalio/client/lib/helpers.js';
import { InvalidCursorError } from '../../errors.js';
import { type Clause, toQuery } from './query.js';

/** An execution as Temporal lists or describes it. */
export type Execution = Omit<WorkflowExecutionInfo, 'raw'>;

/** A page of a list, and where the next one begins. */
export interface Page<T> {
  data: T[];
  /** Opaque; absent on the last page. */
  after?: string;
}

/** gRPC codes with which servers refuse a page token: invalid argument, or, from SQL visibility, unknown and internal. */
const TOKEN_REFUSED = new Set<unknown>([2, 3, 13]);

/**
 * One page of executions that match every clause: open ones first, then the latest closed.
 *
 * @param after where an earlier page ended
 * @throws InvalidCursorError if it is not a page token of Temporal's
 */
export async function listExecutions(
  client: Client,
  clauses: readonly Clause[],
  limit: number,
  after: string | undefined,
): Promise<Page<Execution>> {
  const namespace = client.options.namespace;
  try {
    const response = await client.workflowService.listWorkflowExecutions({
      namespace,
      query: toQuery(clauses),
      pageSize: limit,
      ...(after && { nextPageToken: Buffer.from(after, 'base64url') }),
    });
    const data = await Promise.all(
      response.executions.map((raw) =>
        executionInfoFromRaw(raw, client.options.loadedDataConverter, raw, namespace),
      ),
    );
    const token = response.nextPageToken;
    return {
      data,
      ...(token?.length && data.length === limit && { after: Buffer.from(token).toString('base64url') }),
    };
  } catch (error) {
    if (after && error instanceof Error && 'code' in error && TOKEN_REFUSED.has(error.code))
      throw new InvalidCursorError();
    throw error;
  }
}

/**
 * An execution as it is now, even if visibility is behind; `undefined` if there is no execution with that id.
 *
 * @param runId absent for the latest run
 */
export async function describeExecution(
  client: Client,
  workflowId: string,
  runId?: string,
): Promise<Execution | undefined> {
  try {
    return await client.workflow.getHandle(workflowId, runId).describe();
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
}
