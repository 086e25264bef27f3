import assert from 'node:assert/strict';
import type { WorkflowInfo } from '@temporalio/workflow';
import type { Closing } from '../../../src/domain/stats/closing.js';
import { workflowSinks } from '../../../src/temporal/server/sinks.js';

describe('the end of a delivery', () => {
  it('is passed on once, also if Temporal repeats the task that closed it', async () => {
    const counted: string[] = [];
    const { closed } = workflowSinks((closings) =>
      counted.push(...closings.map(({ event_id }) => event_id)),
    ).deliveries;
    const of = (event_id: string): Closing => ({
      account_id: 'acct_1',
      event_id,
      endpoint_id: 'ep_1',
      event_kind: 'purchase',
      status: 'delivered',
      attempts: 1,
    });
    const call = (runId: string, ...closings: Closing[]) => closed.fn({ runId } as WorkflowInfo, closings);
    await call('run_1', of('evt_1'));
    await call('run_1', of('evt_1'), of('evt_2'));
    assert.deepEqual(counted, ['evt_1', 'evt_2']);
    await call('run_2', of('evt_1'));
    assert.deepEqual(counted, ['evt_1', 'evt_2', 'evt_1'], 'sent again');
  });
});
