import assert from 'node:assert/strict';
import type { ApiClient } from '../../support/api-client.js';
import { executionOf, workflowIdOf } from '../../support/history.js';
import { promised } from '../../support/promised.js';
import { inTurn, type Receiver, reply, startReceiver } from '../../support/receiver.js';
import { ONE_BY_ONE, type SharedSystem, sharedSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

describe('steering a delivery', () => {
  let system: SharedSystem;
  let receiver: Receiver;
  let client: ApiClient;

  before(async () => {
    system = await sharedSystem(ONE_BY_ONE);
  });
  beforeEach(async () => {
    receiver = await startReceiver({ handler: reply(500) });
    client = await system.account();
  });
  afterEach(() => receiver.close());

  /** A delivery whose first attempt has failed. */
  async function retrying(): Promise<{ id: string; endpointId: string; eventId: string }> {
    const endpoint = await client.register(receiver.url);
    const event = await client.purchase();
    const id = event.deliveries[0]?.id ?? '';
    await client.deliveryUntil(id, ({ status }) => status === 'retrying');
    return { id, endpointId: endpoint.id, eventId: event.id };
  }
  const act = (id: string, action: string) => client.request('POST', `/v18.0/deliveries/${id}/${action}`);
  const setStatus = async (endpointId: string, status: 'active' | 'paused') => {
    const body = { target_url: receiver.url, event_kinds: ['purchase'], status };
    const answer = await client.request('PUT', `/v18.0/endpoints/${endpointId}`, { body });
    assert.equal(answer.status, 200, answer.text);
  };
  const executionStatus = async (id: string) =>
    (await (await executionOf(system, workflowIdOf(client, id))).describe()).status.name;
  const untilClosed = (id: string) =>
    until(
      () => executionStatus(id),
      (status) => status !== 'RUNNING',
    );

  /** Holds the next request until the returned function is called; those that follow are answered 200 at once. */
  function holdNext(): () => void {
    const { promise: released, resolve: release } = promised();
    receiver.handle(async (_request, response) => {
      receiver.handle(reply(200));
      await released;
      response.writeHead(200).end();
    });
    return release;
  }

  it('cancels, and the execution ends as Canceled', async () => {
    const { id } = await retrying();
    const answer = await act(id, 'cancel');
    assert.equal(answer.status, 200, answer.text);
    assert.equal(answer.json.status, 'cancelled');
    assert.equal(await untilClosed(id), 'CANCELLED');
    const delivery = await client.delivery(id);
    assert.equal(delivery.status, 'cancelled');
    assert.equal(delivery.reason, `Cancelled by ${client.keyId}.`);
    assert.equal(delivery.attempts.length, 1);
    assert.equal(delivery.next_attempt_at, undefined);
    await until(
      async () => (await client.request('GET', '/v18.0/deliveries?status=cancelled')).json.data,
      (found) => found.length === 1 && found[0].id === id,
    );
    assert.equal(receiver.received.length, 1);
  });

  it('finishes an attempt in flight before a cancellation by Temporal takes effect', async () => {
    const { id } = await retrying();
    const answer = holdNext();
    await act(id, 'retry');
    await receiver.waitFor((all) => all.length === 2);
    await (await executionOf(system, workflowIdOf(client, id))).cancel();
    answer();
    assert.equal(await untilClosed(id), 'COMPLETED');
    const delivery = await client.delivery(id);
    assert.equal(delivery.status, 'delivered');
    assert.equal(delivery.attempts.length, 2);
    assert.equal(receiver.received.length, 2);
  });

  // The server refuses to close an execution that has news, and runs the task again: with it the first attempt, which
  // is part of it.
  it('may repeat the first attempt where Temporal is asked to cancel during it, under the same webhook-id', async () => {
    const answer = holdNext();
    await client.register(receiver.url);
    const event = await client.purchase();
    const id = event.deliveries[0]?.id ?? '';
    await receiver.waitFor((all) => all.length === 1);
    await (await executionOf(system, workflowIdOf(client, id))).cancel();
    answer();
    assert.equal(await untilClosed(id), 'COMPLETED');
    assert.equal((await client.delivery(id)).attempts.length, 1);
    assert.deepEqual(
      new Set(receiver.received.map(({ headers }) => headers['webhook-id'])),
      new Set([event.id]),
    );
  });

  it('is not released from its own pause by its endpoint', async () => {
    const { id, endpointId } = await retrying();
    await act(id, 'pause');
    await until(
      async () => (await client.request('GET', '/v18.0/deliveries?status=parked')).json.data.length,
      (count) => count === 1,
    );
    await setStatus(endpointId, 'paused');
    await setStatus(endpointId, 'active');
    const signalled = async () =>
      (await (await executionOf(system, workflowIdOf(client, id))).fetchHistory()).events?.some(
        (event) => event.workflowExecutionSignaledEventAttributes,
      );
    await until(signalled, (seen) => seen === true);
    const answer = await act(id, 'retry');
    assert.equal(answer.status, 409);
    assert.match(answer.json.detail, /the delivery is paused; resume it first/);
    assert.equal((await client.delivery(id)).status, 'parked');
    assert.equal(receiver.received.length, 1);
  });

  describe('through its endpoint', () => {
    it('parks where the endpoint is paused, and goes out when it is active again', async () => {
      receiver.handle(reply(200));
      const endpoint = await client.register(receiver.url, { status: 'paused' });
      const event = await client.purchase();
      const id = event.deliveries[0]?.id ?? '';
      const parked = await client.deliveryUntil(id, ({ status }) => status === 'parked');
      assert.equal(parked.reason, 'The endpoint is paused.');
      assert.deepEqual(parked.attempts, []);
      await until(
        async () => (await client.request('GET', '/v18.0/deliveries?status=parked')).json.data.length,
        (count) => count === 1,
      );
      await setStatus(endpoint.id, 'active');
      const delivery = await client.deliveryUntil(id, ({ status }) => status === 'delivered');
      assert.deepEqual(
        delivery.attempts.map(({ trigger }) => trigger),
        ['released'],
      );
    });

    it('disables an endpoint that answers 410, parks, and goes out when it is active again', async () => {
      receiver.handle(inTurn(reply(410), reply(200)));
      const endpoint = await client.register(receiver.url);
      const event = await client.purchase();
      const id = event.deliveries[0]?.id ?? '';
      const parked = await client.deliveryUntil(id, ({ status }) => status === 'parked');
      assert.equal(parked.reason, 'Attempt 1 got a 410 response. The endpoint was disabled.');
      const disabled = (await client.request('GET', `/v18.0/endpoints/${endpoint.id}`)).json;
      assert.equal(disabled.status, 'disabled');
      assert.equal(disabled.status_reason, 'It responded with 410 Gone.');

      const second = await client.purchase();
      const other = await client.deliveryUntil(
        second.deliveries[0]?.id ?? '',
        ({ status }) => status === 'parked',
      );
      assert.equal(other.reason, 'The endpoint is disabled: It responded with 410 Gone.');
      await until(
        async () => (await client.request('GET', '/v18.0/deliveries?status=parked')).json.data.length,
        (count) => count === 2,
      );
      receiver.handle(reply(200));
      await setStatus(endpoint.id, 'active');
      const delivery = await client.deliveryUntil(id, ({ status }) => status === 'delivered');
      assert.equal(delivery.attempts.length, 2);
      await client.deliveryUntil(other.id, ({ status }) => status === 'delivered');
      const active = (await client.request('GET', `/v18.0/endpoints/${endpoint.id}`)).json;
      assert.equal(active.status, 'active');
      assert.equal(active.status_reason, undefined);
    });

    it('is cancelled where the endpoint was deleted', async () => {
      const endpoint = await client.register(receiver.url, { status: 'paused' });
      const event = await client.purchase();
      const id = event.deliveries[0]?.id ?? '';
      await client.deliveryUntil(id, ({ status }) => status === 'parked');
      await until(
        async () => (await client.request('GET', '/v18.0/deliveries?status=parked')).json.data.length,
        (count) => count === 1,
      );
      assert.equal((await client.request('DELETE', `/v18.0/endpoints/${endpoint.id}`)).status, 204);
      assert.equal(await untilClosed(id), 'CANCELLED');
      const delivery = await client.delivery(id);
      assert.equal(delivery.status, 'cancelled');
      assert.equal(delivery.reason, 'The endpoint was deleted.');
      assert.equal(receiver.received.length, 0);
    });
  });
});
