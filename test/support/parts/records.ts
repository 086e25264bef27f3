import { randomUUID } from 'node:crypto';
import { WorkflowNotFoundError } from '@temporalio/client';
import type { keepRecords } from '../../../workflows/index.js';
import type { KeepRecordsResult } from '../../../workflows/keep-records.js';
import type { ApiClient } from '../api-client.js';
import type { TestSystem } from '../system.js';
import { until } from '../until.js';

type System = Pick<TestSystem, 'temporal' | 'settings'>;

/** Keeps records once, as the Schedule does. */
export async function runRecords(system: System): Promise<KeepRecordsResult> {
  return (await startRecords(system)).result();
}

/** Starts such a run. */
export function startRecords({ temporal, settings }: System) {
  return temporal.client.workflow.start<typeof keepRecords>('keepRecords', {
    workflowId: `records:${settings.HOOKLINE_TASK_QUEUE}-${randomUUID()}`,
    taskQueue: settings.HOOKLINE_TASK_QUEUE,
    args: [{}],
  });
}

/** Keeps records until the rows of some deliveries say that their executions were terminated. */
export async function recordedTerminations(
  system: System,
  client: ApiClient,
  ids: readonly string[],
): Promise<void> {
  await until(
    async () => {
      await runRecords(system);
      return Promise.all(ids.map(async (id) => (await client.delivery(id)).status));
    },
    (statuses) => statuses.every((status) => status === 'terminated'),
  );
}

/** Keeps records until the log has those of some deliveries: a segment is made a moment after its rows. */
export async function recorded(system: TestSystem, client: ApiClient, ids: readonly string[]): Promise<void> {
  await until(
    async () => {
      await runRecords(system);
      const found = await Promise.all(ids.map((id) => system.database.records.record(client.accountId, id)));
      return found.filter((one) => one?.leafIndex !== undefined).length;
    },
    (count) => count === ids.length,
  );
}

/**
 * Removes executions from Temporal, as its retention does, and waits until nothing lists them. One that has just closed
 * is removed when lists say that it has: Temporal would put it into them after its removal, for good.
 */
export async function forget({ temporal }: System, runs: readonly { workflow_id: string; run_id: string }[]) {
  const { client } = temporal;
  const { namespace } = client.options;
  const different = [...new Map(runs.map((run) => [run.run_id, run])).values()].map(
    ({ workflow_id: workflowId, run_id: runId }) => ({
      ...{ workflowId, runId, query: `WorkflowId = '${workflowId}' AND RunId = '${runId}'` },
      status: async () => (await client.workflow.getHandle(workflowId, runId).describe()).status.name,
    }),
  );
  const count = async (query: string) => (await client.workflow.count(query)).count;
  for (const { workflowId, runId, query, status } of different) {
    if ((await status()) !== 'RUNNING')
      await until(
        () => count(`${query} AND ExecutionStatus != 'Running'`),
        (listed) => listed > 0,
      );
    await client.workflowService.deleteWorkflowExecution({
      namespace,
      workflowExecution: { workflowId, runId },
    });
  }
  for (const { query, status } of different)
    await until(
      async () => {
        const isThere = await status()
          .then(() => true)
          .catch((error: unknown) => !(error instanceof WorkflowNotFoundError));
        return isThere || (await count(query)) > 0;
      },
      (isThere) => !isThere,
    );
}
