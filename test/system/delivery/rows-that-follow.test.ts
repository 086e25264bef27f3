import assert from 'node:assert/strict';
import { payloadsOf } from '../../replay/histories.js';
import type { ApiClient } from '../../support/api-client.js';
import { eventTypes, executionOf, fetchHistory, toJson, workflowIdOf } from '../../support/history.js';
import { type FreezingProxy, startFreezingProxy } from '../../support/outside/freezing-proxy.js';
import { type Handler, inTurn, type Receiver, reply, startReceiver } from '../../support/receiver.js';
import { databaseIn, servers } from '../../support/servers.js';
import { startSystem, type TestSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

/** Path of the endpoint, which nobody else knows. */
const PATH = '/hooks/0f3c';

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
    await client.register(`${receiver.url}${PATH}`);
  });
  after(async () => {
    mongodb.thaw();
    await system.stop();
    await mongodb.close();
    await receiver.close();
  });

  it('is not made again: the delivery goes on, and its row follows; its history has neither URL, address nor response', async () => {
    const answers: (() => void)[] = [];
    const held =
      (status: number): Handler =>
      (_, response) =>
        void answers.push(() => response.writeHead(status, { 'x-request-id': 'answer-7' }).end('not now'));
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
    const json = toJson(await fetchHistory(system, workflowId));
    const history =
      json +
      payloadsOf(JSON.parse(json))
        .map((payload) => JSON.stringify(payload))
        .join();
    assert.match(history, /"sealed":/);
    for (const text of [PATH, '://', '127.0.0.1', 'answer-7', 'not now'])
      assert.ok(!history.includes(text), text);
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
    const [first] = delivery.attempts;
    assert.deepEqual(
      [first?.url, first?.address, first?.response_snippet, first?.response_headers?.['x-request-id']],
      [`${receiver.url}${PATH}`, '127.0.0.1', 'not now', 'answer-7'],
    );
    await (await executionOf(system, workflowId)).result();
  });
});
