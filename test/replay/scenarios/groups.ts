import { registerDirectly } from '../../../bench/support/endpoints.js';
import { MAX_STARTED_AT_ONCE } from '../../../src/domain/delivery/delivery.js';
import { clockWorkflowId, fanOutWorkflowId } from '../../../src/domain/ledger/workflow-ids.js';
import { readTemporalTime } from '../../../src/temporal/server/server-time.js';
import { execution, type Scenarios, type Stage } from './stage.js';

/** Every way through `fanOutEvent`, and `tellTime`. */
export const GROUPS: Scenarios = {
  'tell-time': {
    async play(stage) {
      const { temporal, settings } = stage.system;
      await readTemporalTime(temporal.client, settings.HOOKLINE_TASK_QUEUE);
      return execution(stage, clockWorkflowId(settings.HOOKLINE_TASK_QUEUE));
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
