import assert from 'node:assert/strict';
import { WorkflowClient, type WorkflowService } from '@temporalio/client';
import { onceOnly } from '../../../src/temporal/write/once-only.js';

/** Request ids with which a client of this SDK starts an execution, call by call. */
async function requestIds(calls: readonly object[]): Promise<unknown[]> {
  const ids: unknown[] = [];
  const workflowService = {
    async startWorkflowExecution({ requestId }: { requestId: string }) {
      ids.push(requestId);
      return { runId: 'run' };
    },
  } as unknown as WorkflowService;
  const client = new WorkflowClient({
    connection: { workflowService } as unknown as WorkflowClient['connection'],
  });
  for (const options of calls)
    await client.start('deliver', { workflowId: 'id', taskQueue: 'queue', args: [], ...options });
  return ids;
}

describe('a start call that is made once', () => {
  it('has its name as its request id, which the SDK has no public option for', async () => {
    assert.deepEqual(await requestIds([onceOnly('replay evt'), onceOnly('replay evt')]), [
      'replay evt',
      'replay evt',
    ]);
  });

  it('is another one with another name, and without one', async () => {
    const ids = await requestIds([onceOnly('one'), onceOnly('other'), {}, {}]);
    assert.equal(new Set(ids).size, 4);
  });
});
