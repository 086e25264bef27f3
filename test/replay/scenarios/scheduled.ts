import { newId } from '../../../src/domain/basics/ids.js';
import { scheduledWorkflowId } from '../../../src/domain/ledger/workflow-ids.js';
import { ScheduledExecutions } from '../../../src/temporal/write/accept/scheduled-executions.js';
import { PURCHASE } from '../../support/api-client.js';
import { execution, type Scenarios, type Stage } from './stage.js';

/** Every way through the workflow that sends a scheduled event. */
export const SCHEDULED: Scenarios = {
  'scheduled-event': {
    async play(stage) {
      const path = '/v18.0/scheduled_events/purchase?deliver_after=2';
      const { id } = (await stage.client.request('POST', path, { raw: PURCHASE })).json;
      // Temporal's clock is ahead: the execution comes too early, and waits.
      await startNow(stage, id);
      return execution(stage, scheduledWorkflowId(stage.client.accountId, id));
    },
  },
  'scheduled-event-that-is-not-there': {
    async play(stage) {
      const id = newId('scheduled_event');
      await startNow(stage, id);
      return execution(stage, scheduledWorkflowId(stage.client.accountId, id));
    },
  },
};

async function startNow({ system, client }: Stage, id: string): Promise<void> {
  const executions = new ScheduledExecutions(system.temporal.client, system.settings.HOOKLINE_TASK_QUEUE);
  const event = { account_id: client.accountId, id, event_kind: 'purchase', due_at: new Date(0) };
  await executions.start(event, 'TERMINATE_EXISTING');
}
