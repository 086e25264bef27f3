import assert from 'node:assert/strict';
import { decodeArrayFromPayloads } from '@temporalio/common/lib/internal-non-workflow/index.js';
import { readVerifierKey } from '../../../packages/tlog/src/index.js';
import { recordScheduleId } from '../../../src/domain/ledger/workflow-ids.js';
import { startSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

describe('the Schedule that keeps records [world]', () => {
  it('hands each run the checkpoint that the last one ended with, which stands in Temporal alone', async () => {
    const system = await startSystem({ HOOKLINE_LOG_INTERVAL: '1s' });
    const { client } = system.temporal;
    /** Checkpoints that runs were given, the earliest run first. */
    const given = async () => {
      const { info } = await client.schedule
        .getHandle(recordScheduleId(system.settings.HOOKLINE_TASK_QUEUE))
        .describe();
      const runs = info.recentActions.map(({ action }) => action.workflow);
      const histories = await Promise.all(
        runs.map(({ workflowId, firstExecutionRunId }) =>
          client.workflow.getHandle(workflowId, firstExecutionRunId).fetchHistory(),
        ),
      );
      return Promise.all(
        histories.map(async ({ events }) => {
          const scheduled = events?.find(
            (event) => event.activityTaskScheduledEventAttributes?.activityType?.name === 'appendToLog',
          );
          const payloads = scheduled?.activityTaskScheduledEventAttributes?.input?.payloads ?? [];
          const [input] = await decodeArrayFromPayloads(client.options.loadedDataConverter, payloads);
          return (input as { checkpoint?: string } | undefined)?.checkpoint;
        }),
      );
    };
    const checkpoints = await until(given, (all) => all.some(Boolean));
    const head = await system.database.log.head(
      (await (await fetch(`${system.url}/v18.0/log/key`)).text())
        .trim()
        .split('\n')
        .map((key) => readVerifierKey(key)),
    );
    assert.equal(checkpoints.find(Boolean)?.split('\n')[0], head?.origin);
    await system.stop();
  });
});
