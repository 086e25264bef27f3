import { registerDirectly } from '../../../bench/support/endpoints.js';
import { newId } from '../../../src/domain/basics/ids.js';
import { fanOutWorkflowId, groupWorkflowId } from '../../../src/domain/ledger/workflow-ids.js';
import { MAX_STARTED_AT_ONCE } from '../../../src/temporal/write/delivery-starter.js';
import { CandidateGroups } from '../../../src/temporal/write/once/candidate-groups.js';
import { execution, type Scenarios, type Stage } from './stage.js';

/** Every way through `fanOutEvent`, and a fence. */
export const GROUPS: Scenarios = {
  fence: {
    async play(stage) {
      const { client } = stage.system.temporal;
      const candidates = new CandidateGroups({
        client,
        taskQueue: stage.system.settings.HOOKLINE_TASK_QUEUE,
      });
      const range = { series: newId('group'), first: 1, last: 1 };
      await candidates.settle(range);
      return execution(stage, groupWorkflowId(`${range.series}:1`));
    },
  },
  'fan-out-event-to-many': {
    async play(stage) {
      await registerMany(stage, MAX_STARTED_AT_ONCE + 1);
      const event = await stage.client.purchase();
      return execution(stage, fanOutWorkflowId(stage.client.accountId, event.id));
    },
  },
  'fan-out-event-in-two-batches': {
    async play(stage) {
      await registerMany(stage, 601);
      const event = await stage.client.purchase();
      return execution(stage, fanOutWorkflowId(stage.client.accountId, event.id));
    },
  },
};

async function registerMany({ system, client, receiver }: Stage, count: number): Promise<void> {
  const urls = Array.from({ length: count }, () => receiver.url);
  await registerDirectly(system.database.endpoints, client.accountId, urls);
}
