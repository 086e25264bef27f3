import type { Client, WorkflowExecutionInfo } from '@temporalio/client';
import { executionInfoFromRaw } from '@temporalio/client/lib/helpers.js';
import { unlessGone } from '../../errors.js';
import { type Clause, toQuery } from './query.js';

/** An execution as Temporal lists or describes it. */
export type Execution = Omit<WorkflowExecutionInfo, 'raw'>;

/** A page of a list, and where the next one begins. */
export interface Page<T> {
  data: T[];
  /** Opaque; absent on the last page. */
  after?: string;
}

/** The first executions that match every clause: open ones first, then the latest closed. */
export async function listExecutions(
  client: Client,
  clauses: readonly Clause[],
  limit: number,
): Promise<Execution[]> {
  const namespace = client.options.namespace;
  const { executions } = await client.workflowService.listWorkflowExecutions({
    namespace,
    query: toQuery(clauses),
    pageSize: limit,
  });
  return Promise.all(
    executions.map((raw) => executionInfoFromRaw(raw, client.options.loadedDataConverter, raw, namespace)),
  );
}

/** Executions that match every clause, page by page. */
export function everyExecution(client: Client, clauses: readonly Clause[]): AsyncIterable<Execution> {
  return client.workflow.list({ query: toQuery(clauses), pageSize: 1_000 });
}

/**
 * An execution as it is now, even if visibility is behind; `undefined` if there is no execution with that id.
 *
 * @param runId absent for the latest run
 */
export function describeExecution(
  client: Client,
  workflowId: string,
  runId?: string,
): Promise<Execution | undefined> {
  return unlessGone(client.workflow.getHandle(workflowId, runId).describe());
}
