import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import type { ApiDependencies } from '../../../src/api/http/context.js';
import { explain } from '../../../src/api/routes/explain/explain.js';
import { newId } from '../../../src/domain/basics/ids.js';

describe('explain', () => {
  it('asks Temporal about a delivery that has not begun and its fan-out at the same time', async () => {
    const [event_id, endpoint_id] = [newId('event'), newId('endpoint')];
    const asked: string[] = [];
    const delivery = { event_id, endpoint_id, status: 'delivering', attempts: [], run_id: '' };
    const dependencies = {
      deliveries: { get: async () => delivery, failingTask: async () => void asked.push('delivery') },
      events: {
        get: async () => undefined,
        fanOut: async () => {
          asked.push('fan-out');
          await turn();
          asked.push('told');
        },
      },
      database: {
        endpoints: { getFresh: async () => undefined },
        changes: { list: async () => [] },
        records: { eventsOf: async () => new Map() },
      },
    } as unknown as ApiDependencies;
    await explain(dependencies, newId('account'), endpoint_id, event_id);
    assert.deepEqual(asked, ['fan-out', 'delivery', 'told']);
  });
});
