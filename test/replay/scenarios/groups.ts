import { registerDirectly } from '../../../bench/support/endpoints.js';
import { newId } from '../../../src/domain/basics/ids.js';
import type { GroupMember } from '../../../src/domain/delivery/delivery.js';
import { fanOutWorkflowId, groupWorkflowId } from '../../../src/domain/ledger/workflow-ids.js';
import { MAX_STARTED_AT_ONCE } from '../../../src/temporal/write/delivery-starter.js';
import { CandidateGroups } from '../../../src/temporal/write/once/candidate-groups.js';
import type { deliverGroup } from '../../../workflows/index.js';
import { PURCHASE } from '../../support/api-client.js';
import { reply } from '../../support/receiver.js';
import { execution, type Run, type Scenarios, type Stage } from './stage.js';

/** Every way through `deliverGroup` and `fanOutEvent`. */
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
  'fan-out-event-to-none': {
    async play(stage) {
      const event = await stage.client.purchase();
      return execution(stage, fanOutWorkflowId(stage.client.accountId, event.id));
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
  'deliver-group-all-delivered': {
    play: (stage) => group(stage),
  },
  'deliver-group-some-handed-over': {
    async play(stage) {
      const failing = ['/3', '/7'];
      stage.receiver.handle((request, ...rest) =>
        reply(failing.includes(request.url ?? '') ? 500 : 200)(request, ...rest),
      );
      return group(stage);
    },
  },
};

/** A `deliverGroup` of an event for twelve endpoints, at paths of their own. Nothing else starts that type any more. */
async function group({ system, client, receiver }: Stage): Promise<Run> {
  const event_id = newId('event');
  const deliveries: GroupMember[] = [];
  for (let count = 0; count < 12; count++) {
    const { id: endpoint_id } = await client.register(`${receiver.url}/${count}`);
    deliveries.push({ event: 0, endpoint_id });
  }
  const event = {
    account_id: client.accountId,
    event_id,
    event_kind: 'purchase',
    payload: PURCHASE,
    accepted_at: new Date().toISOString(),
  };
  const workflowId = groupWorkflowId(event_id);
  await system.temporal.client.workflow.execute<typeof deliverGroup>('deliverGroup', {
    workflowId,
    taskQueue: system.environment['HOOKLINE_TASK_QUEUE'] ?? '',
    args: [
      {
        events: [event],
        deliveries,
        schedule: [3_600_000],
        attempt_timeout_ms: 5_000,
        park_limit_ms: 604_800_000,
      },
    ],
  });
  return { workflowId };
}

async function registerMany({ system, client, receiver }: Stage, count: number): Promise<void> {
  const urls = Array.from({ length: count }, () => receiver.url);
  await registerDirectly(system.database.endpoints, client.accountId, urls);
}
