import assert from 'node:assert/strict';
import type { ApiClient } from '../../support/api-client.js';
import { eventTypes, fetchHistory, workflowIdOf } from '../../support/history.js';
import { type FreezingProxy, startFreezingProxy } from '../../support/outside/freezing-proxy.js';
import { inTurn, type Receiver, reply, startReceiver } from '../../support/receiver.js';
import { databaseIn, servers } from '../../support/servers.js';
import { startSystem, type TestSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

describe('an attempt that ends while MongoDB cannot write [world]', () => {
  let system: TestSystem;
  let mongodb: FreezingProxy;
  let receiver: Receiver;
  let client: ApiClient;

  before(async () => {
    const { mongodbUri } = servers();
    mongodb = await startFreezingProxy(new URL(mongodbUri).host);
    const uri = databaseIn(mongodbUri, `follow${Date.now()}`);
    system = await startSystem({
      MONGODB_URI: uri.replace(new URL(mongodbUri).host, mongodb.address),
      HOOKLINE_RETRY_SCHEDULE: '1s',
    });
    receiver = await startReceiver();
    client = await system.account();
    await client.register(receiver.url);
  });
  after(async () => {
    mongodb.thaw();
    await system.stop();
    await mongodb.close();
    await receiver.close();
  });

  it('is not made again: the delivery goes on, and its row follows', async () => {
    const answers: (() => void)[] = [];
    const held = (status: number) => (_: unknown, response: { writeHead(status: number): { end(): void } }) =>
      void answers.push(() => response.writeHead(status).end());
    receiver.handle(inTurn(held(500), reply(200)));
    const { deliveries } = await client.purchase();
    const id = deliveries[0]?.id ?? '';
    await receiver.waitFor(({ length }) => length === 1);
    mongodb.freeze();
    answers[0]?.();
    // What the attempt came to stands in the history, and an activity keeps on.
    const workflowId = workflowIdOf(client, id);
    await until(
      async () => eventTypes(await fetchHistory(system, workflowId)),
      (types) => types.includes('TIMER_STARTED') && types.includes('ACTIVITY_TASK_SCHEDULED'),
    );
    mongodb.thaw();
    const delivery = await client.deliveryUntil(id, ({ status }) => status === 'delivered');
    assert.deepEqual(
      delivery.attempts.map(({ number, status_code, lost_tries }) => [number, status_code, lost_tries]),
      [
        [1, 500, undefined],
        [2, 200, undefined],
      ],
    );
    assert.equal(receiver.received.length, 2);
    await system.temporal.client.workflow.getHandle(workflowId).result();
  });
});
