import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { pino } from 'pino';
import { EarlyAttempts } from '../../../activities/delivery/early-attempts.js';
import { startService } from '../../../src/bin/service.js';
import { deliveryId } from '../../../src/domain/basics/delivery-id.js';
import type { ApiClient } from '../../support/api-client.js';
import { type Receiver, startReceiver } from '../../support/receiver.js';
import { sharedSystem, startSystem } from '../../support/system.js';

/**
 * The endpoints at which first attempts were begun ahead of their workflows, from now on: for an account, by whatever
 * system in this process.
 */
function watch({ accountId }: ApiClient): () => string[] {
  const { mock: seen } = mock.method(EarlyAttempts.prototype, 'begin');
  return () =>
    seen.calls.flatMap(({ arguments: [orders] }) =>
      orders.flatMap(({ event, ...order }) =>
        event.account_id === accountId ? [deliveryId({ ...event, ...order })] : [],
      ),
    );
}

describe('an early attempt', () => {
  let receiver: Receiver;
  beforeEach(async () => {
    receiver = await startReceiver();
  });
  afterEach(async () => {
    mock.restoreAll();
    await receiver.close();
  });

  async function send(client: ApiClient, events: number) {
    await client.register(receiver.url);
    const accepted = await Promise.all(Array.from({ length: events }, () => client.purchase()));
    return Promise.all(
      accepted.map(({ deliveries }) =>
        client.deliveryUntil(deliveries[0]?.id ?? '', ({ status }) => status === 'delivered'),
      ),
    );
  }

  it('begins as soon as the event is stored, and is made once', async () => {
    const system = await sharedSystem();
    const client = await system.account();
    const begun = watch(client);
    const [delivery] = await send(client, 1);
    assert.deepEqual(begun(), [delivery?.id]);
    assert.equal(receiver.received.length, 1);
  });

  it('does so in groups, too [world]', async () => {
    const system = await sharedSystem();
    const client = await system.account();
    const begun = watch(client);
    const deliveries = await send(client, 15);
    assert.deepEqual(begun().sort(), deliveries.map(({ id }) => id).sort());
    assert.ok(new Set(deliveries.map(({ run_id }) => run_id)).size < 15);
    assert.equal(receiver.received.length, 15);
  });

  it('is left to the workflow where that runs in another process [world]', async () => {
    const system = await startSystem({}, 'api');
    const worker = await startService(system.settings, 'worker', pino({ level: 'silent' }));
    const client = await system.account();
    const begun = watch(client);
    await send(client, 20);
    assert.deepEqual(begun(), []);
    // On a busy machine a workflow task may be repeated, and its attempts with it.
    assert.equal(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size, 20);
    await worker.stop();
    await system.stop();
  });
});
