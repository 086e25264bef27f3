import { registerDirectly } from '../../../bench/support/endpoints.js';
import { fanOutWorkflowId, groupWorkflowId } from '../../../src/domain/ledger/workflow-ids.js';
import { reply } from '../../support/receiver.js';
import { execution, type Run, type Scenarios, SLOW, type Stage } from './stage.js';

/** Every way through `deliverGroup` and `fanOutEvent`. */
export const GROUPS: Scenarios = {
  'fan-out-event-to-none': {
    async play(stage) {
      const event = await stage.client.purchase();
      return execution(stage, fanOutWorkflowId(stage.client.accountId, event.id));
    },
  },
  'fan-out-event-to-many': {
    async play(stage) {
      for (let count = 0; count < 12; count++) await stage.client.register(stage.receiver.url);
      const event = await stage.client.purchase();
      return execution(stage, fanOutWorkflowId(stage.client.accountId, event.id));
    },
  },
  'fan-out-event-in-two-batches': {
    async play(stage) {
      const { accountId } = stage.client;
      const urls = Array.from({ length: 601 }, () => stage.receiver.url);
      await registerDirectly(stage.system.database.endpoints, accountId, urls);
      const event = await stage.client.purchase();
      return execution(stage, fanOutWorkflowId(accountId, event.id));
    },
  },
  'deliver-group-all-delivered': {
    play: (stage) => group(stage),
  },
  'deliver-group-some-handed-over': {
    settings: SLOW,
    async play(stage) {
      const failing = ['/3', '/7'];
      stage.receiver.handle((request, ...rest) =>
        reply(failing.includes(request.url ?? '') ? 500 : 200)(request, ...rest),
      );
      return group(stage);
    },
  },
};

/** The first group of an event for twelve endpoints, at paths of their own. */
async function group(stage: Stage): Promise<Run> {
  for (let count = 0; count < 12; count++) await stage.client.register(`${stage.receiver.url}/${count}`);
  const event = await stage.client.purchase();
  await execution(stage, fanOutWorkflowId(stage.client.accountId, event.id));
  return execution(stage, groupWorkflowId(`${event.id}:0`));
}
