import assert from 'node:assert/strict';
import type { Activities } from '../../../activities/index.js';
import { newId } from '../../../src/domain/basics/ids.js';
import { deliveryWorkflowId } from '../../../src/domain/ledger/workflow-ids.js';
import { groupOf } from '../../support/parts/group-of.js';
import { startStubWorker } from '../../support/parts/stub-worker.js';
import { type SharedSystem, sharedSystem } from '../../support/system.js';
import { until } from '../../support/until.js';
import { withWarnings } from '../../support/warnings.js';

describe('a workflow that fails while a test waits [world]', () => {
  let system: SharedSystem;
  before(async () => {
    system = await sharedSystem();
  });

  it('is named in the message of the test', async () => {
    const key = { event_id: newId('event'), endpoint_id: newId('endpoint') };
    const account_id = newId('account');
    const taskQueue = `stub-${key.event_id}`;
    // A report that no code makes: the workflow's code throws on it, and Temporal tries the workflow task again and
    // again.
    const broken = { attemptFirst: async () => ({ delivered: 1 }) } as unknown as Partial<Activities>;
    const stop = await startStubWorker(system.temporal, taskQueue, broken);
    const handle = await system.temporal.client.workflow.start('deliver', {
      workflowId: deliveryWorkflowId(account_id, key),
      taskQueue,
      args: [groupOf({ ...key, account_id }, { schedule: [] })],
    });
    try {
      const status = async () => (await handle.describe()).status.name;
      await until(
        () => withWarnings(''),
        (said) => said.includes('TypeError'),
      );
      await assert.rejects(
        until(status, (name) => name === 'COMPLETED', 0),
        /last seen: "RUNNING"\nWarnings meanwhile:[\s\S]*TypeError/,
      );
    } finally {
      await handle.terminate('the end of the test');
      await stop();
    }
  });
});
