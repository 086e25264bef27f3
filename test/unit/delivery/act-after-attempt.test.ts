import assert from 'node:assert/strict';
import { type Client, WorkflowUpdateFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { newId } from '../../../src/domain/basics/ids.js';
import type { DeliveryReader } from '../../../src/temporal/read/delivery-reader.js';
import { DeliveryControl } from '../../../src/temporal/write/delivery-control.js';
import type { DeliveryStarter } from '../../../src/temporal/write/delivery-starter.js';

/** Acts upon a delivery whose execution knows of the end of its attempt when it is asked for the third time. */
async function cancel(endedMsAgo: number): Promise<{ asked: number; done: boolean }> {
  let asked = 0;
  const executeUpdate = async () => {
    asked += 1;
    if (asked < 3)
      throw new WorkflowUpdateFailedError(
        'refused',
        ApplicationFailure.create({ message: 'an attempt is in flight' }),
      );
    return {};
  };
  const client = {
    workflow: { getHandle: () => ({ executeUpdate }) },
    withDeadline: (_: number, call: () => unknown) => call(),
  } as unknown as Client;
  const at = new Date(Date.now() - endedMsAgo - 60_000).toISOString();
  const deliveries = {
    workflowIds: async () => ['delivery'],
    get: async () => ({ status: 'retrying', attempts: [{ number: 1, at, duration_ms: 60_000 }] }),
  } as unknown as DeliveryReader;
  const control = new DeliveryControl(client, {} as DeliveryStarter, deliveries);
  const key = { event_id: newId('event'), endpoint_id: newId('endpoint') };
  const act = control.act('cancel', newId('account'), key, { by: 'key_1' });
  const done = await act.then(
    () => true,
    () => false,
  );
  return { asked, done };
}

describe('an act upon a delivery', () => {
  it('whose row says that its attempt has just ended waits until its execution knows', async () => {
    assert.deepEqual(await cancel(0), { asked: 3, done: true });
  });

  it('is refused at once while another attempt is in flight', async () => {
    assert.deepEqual(await cancel(60_000), { asked: 1, done: false });
  });
});
