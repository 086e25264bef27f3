import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { scaledTimings } from '../../../src/domain/timings.js';
import { reporter } from '../../support/parts/incidents.js';
import { promised } from '../../support/promised.js';

const ENDPOINT = { account_id: 'acct_1', endpoint_id: 'ep_1' };
const timings = scaledTimings(0.05);

/** Incidents whose signals Temporal answers as soon as `answer` is called. */
function slowIncidents() {
  const { promise: answered, resolve: answer } = promised();
  const sent: unknown[] = [];
  const signal = (definition: unknown) => {
    sent.push(definition);
    return answered;
  };
  const client = { workflow: { getHandle: () => ({ signal }) } } as unknown as Client;
  const { incidents } = reporter({
    client,
    taskQueue: 'q',
    disableAfterMs: 60_000,
    probeIntervalMs: 5_000,
    timings,
  });
  return { incidents, sent, answer };
}

describe('reports of successes', () => {
  it('join one that waits for its turn, however long it does', async () => {
    const { incidents, sent, answer } = slowIncidents();
    const first = incidents.succeeded(ENDPOINT, Date.now());
    await delay(timings.success_known_ms + 50);
    const second = incidents.succeeded(ENDPOINT, Date.now());
    assert.equal(sent.length, 1);
    answer();
    assert.deepEqual(await Promise.all([first, second]), [true, true]);
    assert.equal(
      await incidents.succeeded(ENDPOINT, Date.now()),
      true,
      'it is known for a while from then on',
    );
    assert.equal(sent.length, 1);
  });

  it('are sent before the process stops', async () => {
    const { incidents, answer } = slowIncidents();
    const order: string[] = [];
    const reported = incidents.succeeded(ENDPOINT, Date.now()).then(() => order.push('reported'));
    const stopped = incidents.stop().then(() => order.push('stopped'));
    answer();
    await Promise.all([reported, stopped]);
    assert.deepEqual(order, ['reported', 'stopped']);
  });
});
