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

/** Removes executions from Temporal, as its retention does, and waits until nothing lists them. */
export async function forget({ temporal }: System, runs: readonly { workflow_id: string; run_id: string }[]) {
  const { client } = temporal;
  const { namespace } = client.options;
  const different = [...new Map(runs.map((run) => [run.run_id, run])).values()];
  for (const { workflow_id: workflowId, run_id: runId } of different)
    await client.workflowService.deleteWorkflowExecution({
      namespace,
      workflowExecution: { workflowId, runId },
    });
  for (const { workflow_id, run_id } of different) {
    const query = `WorkflowId = '${workflow_id}' AND RunId = '${run_id}'`;
    await until(
      async () => {
        const isThere = await client.workflow
          .getHandle(workflow_id, run_id)
          .describe()
          .then(() => true)
          .catch((error: unknown) => !(error instanceof WorkflowNotFoundError));
        const { count } = await client.workflow.count(query);
        return isThere || count > 0;
      },
      (isThere) => !isThere,
    );
  }
}
