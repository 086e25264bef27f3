import assert from 'node:assert/strict';
import { Webhook } from 'standardwebhooks';
import type { Delivery } from '../../../src/domain/view/delivery-view.js';
import type { ApiClient } from '../../support/api-client.js';
import { eventTypes, executionOf, fetchHistory, untilHeard, workflowIdOf } from '../../support/history.js';
import {
  type Handler,
  hangUp,
  inTurn,
  neverAnswer,
  type Receiver,
  reply,
  startReceiver,
} from '../../support/receiver.js';
import { ONE_BY_ONE, type SharedSystem, sharedSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

/** Time limit of an attempt. */
const TIMEOUT_S = 5;

describe('retries', () => {
  let system: SharedSystem;
  let receiver: Receiver;
  let client: ApiClient;

  before(async () => {
    system = await sharedSystem({
      ...ONE_BY_ONE,
      HOOKLINE_RETRY_SCHEDULE: '20ms,1s,1s',
      HOOKLINE_ATTEMPT_TIMEOUT: `${TIMEOUT_S}s`,
    });
  });
  beforeEach(async () => {
    receiver = await startReceiver();
    client = await system.account();
  });
  afterEach(() => receiver.close());

  /** @param retry_schedule the endpoint's own; absent: the installation's */
  async function deliver(retry_schedule?: string[]): Promise<{ delivery: Delivery; secret: string }> {
    const { secret } = await client.register(receiver.url, { ...(retry_schedule && { retry_schedule }) });
    const event = await client.purchase();
    const id = event.deliveries[0]?.id ?? '';
    const delivery = await client.deliveryUntil(id, ({ closed_at }) => closed_at !== undefined);
    return { delivery, secret };
  }
  const history = (id: string) => fetchHistory(system, workflowIdOf(client, id));
  const executionStatus = async (id: string) =>
    (await (await executionOf(system, workflowIdOf(client, id))).describe()).status.name;

  it('go on after two errors and a hanging endpoint, in one workflow, until it is delivered [world]', async () => {
    receiver.handle(inTurn(reply(500), reply(500), neverAnswer, reply(200)));
    const { delivery, secret } = await deliver();
    assert.equal(delivery.status, 'delivered');
    assert.deepEqual(
      delivery.attempts.map(({ number, status_code, error_code }) => [number, status_code ?? error_code]),
      [
        [1, 500],
        [2, 500],
        [3, 'timeout'],
        [4, 200],
      ],
    );
    assert.equal(delivery.attempts[2]?.error, `no response within ${TIMEOUT_S}s`);
    const hung = delivery.attempts[2]?.duration_ms ?? 0;
    assert.ok(hung >= TIMEOUT_S * 1_000, `the attempt lasted ${hung} ms`);

    const { received } = receiver;
    assert.deepEqual(
      received.map(({ headers }) => headers['webhook-attempt']),
      ['1', '2', '3', '4'],
    );
    for (const { body, headers } of received) {
      assert.equal(headers['webhook-id'], delivery.event_id);
      new Webhook(secret).verify(body, headers);
    }
    // Attempts 2 and 4 stand at least a second apart, so a timestamp or signature that is not fresh would show.
    assert.notEqual(received[1]?.headers['webhook-timestamp'], received[3]?.headers['webhook-timestamp']);
    assert.notEqual(received[1]?.headers['webhook-signature'], received[3]?.headers['webhook-signature']);
    for (const [index, { at, headers }] of received.entries()) {
      const signedAt = Number(headers['webhook-timestamp']);
      const begun = Math.floor(Date.parse(delivery.attempts[index]?.at ?? '') / 1_000);
      assert.ok(begun <= signedAt && signedAt <= at.getTime() / 1_000, 'the timestamp is the attempt’s own');
    }

    await untilHeard(system, delivery.workflow_id);
    const types = eventTypes(await history(delivery.id));
    const made = types.filter((type) => type === 'MARKER_RECORDED' || type === 'ACTIVITY_TASK_COMPLETED');
    assert.deepEqual(made, [
      'MARKER_RECORDED',
      'ACTIVITY_TASK_COMPLETED',
      'ACTIVITY_TASK_COMPLETED',
      'ACTIVITY_TASK_COMPLETED',
    ]);
    const runs = await system.temporal.client.workflow.count(`HooklineEvent = '${delivery.event_id}'`);
    assert.equal(runs.count, 1);
    // Waits say in the history what they are for.
    const timers = types.filter((type) => type === 'TIMER_STARTED').length;
    // On a busy machine a retry may be due before its workflow hears of the failure.
    assert.ok(timers >= 1 && timers <= 3, `${timers} timers`);
  });

  it('end where the schedule does: exhausted, Failed, every attempt readable', async () => {
    receiver.handle(inTurn(reply(500, {}, 'no'), reply(404), reply(302, { location: '/x' }), hangUp));
    const { delivery } = await deliver(['100ms', '100ms', '100ms']);
    assert.equal(delivery.status, 'exhausted');
    assert.deepEqual(
      delivery.attempts.map(({ status_code, error_code }) => status_code ?? error_code),
      [500, 404, 302, 'connection_reset'],
    );
    assert.equal(delivery.attempts[0]?.response_snippet, 'no');
    assert.match(delivery.reason ?? '', /^Attempt 4 failed: .* That was the last of the schedule\.$/);
    // What is shown is ahead of the workflow by what it has not heard yet.
    await until(
      () => executionStatus(delivery.id),
      (status) => status === 'FAILED',
    );
    assert.equal(receiver.received.length, 4);
    await until(
      async () => (await client.request('GET', '/v18.0/deliveries?status=exhausted')).json.data,
      (found) => found.length === 1 && found[0].id === delivery.id,
    );
  });

  it('come not earlier than planned', async () => {
    receiver.handle(reply(500));
    const { delivery } = await deliver(['200ms', '400ms']);
    const begun = delivery.attempts.map(({ at, duration_ms }) => [Date.parse(at), duration_ms] as const);
    for (const [index, wait] of [200, 400].entries()) {
      const [began = 0, lasted = 0] = begun[index] ?? [];
      const [next = 0] = begun[index + 1] ?? [];
      assert.ok(next >= began + lasted + wait, `attempt ${index + 2} came ${next - began - lasted} ms after`);
    }
  });

  it('wait as long as Retry-After says, in seconds', async () => {
    receiver.handle(inTurn(reply(429, { 'retry-after': '2' }), reply(200)));
    const { delivery } = await deliver();
    const [first, second] = delivery.attempts;
    assert.equal(second?.trigger, 'retry_after');
    assert.equal(first?.response_headers?.['retry-after'], '2');
    const answered = Date.parse(first?.at ?? '') + (first?.duration_ms ?? 0);
    assert.ok(Date.parse(second?.at ?? '') >= answered + 2_000);
  });

  it('wait until the date that Retry-After names [world]', async () => {
    let named = Infinity;
    const later: Handler = (_request, response) => {
      named = Math.ceil(Date.now() / 1_000) * 1_000 + 3_000;
      response.writeHead(503, { 'retry-after': new Date(named).toUTCString() }).end();
    };
    receiver.handle(inTurn(later, reply(200)));
    const { delivery } = await deliver();
    assert.equal(delivery.attempts[1]?.trigger, 'retry_after');
    assert.ok(Date.parse(delivery.attempts[1]?.at ?? '') >= named);
  });

  it('ignore the Retry-After of an answer whose status does not allow one', async () => {
    receiver.handle(inTurn(reply(500, { 'retry-after': '3600' }), reply(200)));
    const { delivery } = await deliver();
    assert.equal(delivery.status, 'delivered');
    assert.equal(delivery.attempts[1]?.trigger, 'schedule');
  });

  it('follow the endpoint’s own schedule if it has one', async () => {
    receiver.handle(reply(500));
    const { delivery } = await deliver(['100ms', '100ms']);
    assert.equal(delivery.status, 'exhausted');
    assert.equal(delivery.attempts.length, 3);
  });

  it('see the endpoint as it is now', async () => {
    receiver.handle(reply(500));
    const moved = await startReceiver();
    try {
      const endpoint = await client.register(receiver.url, { retry_schedule: ['1h'] });
      const event = await client.purchase();
      const id = event.deliveries[0]?.id ?? '';
      await client.deliveryUntil(id, ({ status }) => status === 'retrying');
      const body = { target_url: moved.url, event_kinds: ['purchase'], retry_schedule: ['1h'] };
      await client.request('PUT', `/v18.0/endpoints/${endpoint.id}`, { body });
      await client.request('POST', `/v18.0/deliveries/${id}/retry`);
      const delivery = await client.deliveryUntil(id, ({ status }) => status === 'delivered');
      assert.deepEqual(
        delivery.attempts.map(({ url_host }) => url_host),
        [new URL(receiver.url).host, new URL(moved.url).host],
      );
    } finally {
      await moved.close();
    }
  });

  it('stop where the park limit is reached: expired, Failed, and can be sent again [world]', async () => {
    const impatient = await sharedSystem({ HOOKLINE_PARK_LIMIT: '300ms' });
    client = await impatient.account();
    await client.register(receiver.url, { status: 'paused' });
    const event = await client.purchase();
    const id = event.deliveries[0]?.id ?? '';
    const delivery = await client.deliveryUntil(id, ({ status }) => status === 'expired');
    assert.match(delivery.reason ?? '', /^Parked for 300ms, the limit\. The endpoint is paused\.$/);
    assert.deepEqual(delivery.attempts, []);
    // What is shown is ahead of the workflow by the task in which it expires.
    await until(
      () => executionStatus(id),
      (status) => status === 'FAILED',
    );
    assert.equal(receiver.received.length, 0);

    const [endpoint] = (await client.request('GET', '/v18.0/endpoints')).json.data;
    await client.request('PATCH', `/v18.0/endpoints/${endpoint.id}`, { body: { status: 'active' } });
    await client.request('POST', `/v18.0/deliveries/${id}/resend`, { body: {} });
    await client.deliveryUntil(id, ({ status }) => status === 'delivered');
  });
});
