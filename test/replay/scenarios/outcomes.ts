import { outcomeWorkflowId } from '../../../src/domain/ledger/workflow-ids.js';
import type { awaitOutcome } from '../../../workflows/index.js';
import { execution, type Scenarios, start } from './stage.js';

/** Every way through the workflow that waits for the end of an event's deliveries. */
export const OUTCOMES: Scenarios = {
  'outcome-of-an-event': {
    async play(stage) {
      const { system, client } = stage;
      const event_id = await delivered(stage);
      const workflowId = outcomeWorkflowId(client.accountId, event_id, 'request');
      await system.temporal.client.workflow.start<typeof awaitOutcome>('awaitOutcome', {
        workflowId,
        taskQueue: system.settings.HOOKLINE_TASK_QUEUE,
        args: [{ account_id: client.accountId, event_id, event_kind: 'purchase', delivery_count: 1 }],
      });
      return execution(stage, workflowId);
    },
  },
};

async function delivered(stage: Parameters<typeof start>[0]): Promise<string> {
  const { event_id } = await stage.client.deliveryUntil(
    await start(stage),
    ({ status }) => status === 'delivered',
  );
  return event_id;
}
