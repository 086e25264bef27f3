import { randomUUID } from 'node:crypto';
import { WorkflowNotFoundError } from '@temporalio/client';
import type { KeepRecordsResult } from '../../../workflows/records/keep-records.js';
import type { keepRecords } from '../../../workflows/index.js';
import type { ApiClient } from '../api-client.js';
import type { TestSystem } from '../system.js';
import { until } from '../until.js';

const HOUR_MS = 3_600_000;

type System = Pick<TestSystem, 'temporal' | 'settings'>;

/** Runs the archive once, as its Schedule does, over what has closed up to now. */
export async function runArchive(system: System): Promise<KeepRecordsResult> {
  return (await startArchive(system)).result();
}

/** Starts a run of the archive. */
export function startArchive({ temporal, settings }: System) {
  return temporal.client.workflow.start<typeof keepRecords>('keepRecords', {
    workflowId: `archive:${settings.HOOKLINE_TASK_QUEUE}-${randomUUID()}`,
    taskQueue: settings.HOOKLINE_TASK_QUEUE,
    args: [{ reach_ms: HOUR_MS, settled_after_ms: 0 }],
  });
}

/** Archives until some deliveries are archived: visibility lists what has closed a moment later. */
export async function archived(system: TestSystem, client: ApiClient, ids: readonly string[]): Promise<void> {
  await until(
    async () => {
      await runArchive(system);
      const found = await Promise.all(ids.map((id) => system.database.archive.record(client.accountId, id)));
      return found.filter(Boolean).length;
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
