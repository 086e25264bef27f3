import assert from 'node:assert/strict';
import mongoose from 'mongoose';
import type { Delivery, DeliverySummary } from '../../../src/temporal/read/delivery-view.js';
import { type Accepted, type ApiClient, apiClient, PURCHASE } from '../../support/api-client.js';
import { type FreezingProxy, startFreezingProxy } from '../../support/outside/freezing-proxy.js';
import { readAll } from '../../support/parts/pages.js';
import { type Receiver, startReceiver } from '../../support/receiver.js';
import { servers } from '../../support/servers.js';
import { newAccount, startSystem, type TestSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

const EVENTS = 5;
const KEYS = Array.from({ length: EVENTS }, (_, index) => `order-${index}`);

/**
 * Two processes, one of which reaches Temporal through a proxy. While its first start call, of one delivery, has no
 * answer, the other events wait; then they are started as a group. Each test costs the five seconds within which a
 * first request may end by itself.
 */
describe('an event that is repeated at another process [world]', () => {
  let first: TestSystem;
  let second: TestSystem;
  let temporal: FreezingProxy;
  let receiver: Receiver;
  let client: ApiClient;
  let mongodb: mongoose.Connection;

  beforeEach(async () => {
    temporal = await startFreezingProxy(servers().temporalAddress);
    receiver = await startReceiver();
    second = await startSystem();
    first = await startSystem({ ...second.environment, TEMPORAL_ADDRESS: temporal.address }, 'api');
    mongodb = await mongoose.createConnection(second.environment['MONGODB_URI'] ?? '').asPromise();
    client = await newAccount(second.database, second.url);
    await client.register(receiver.url);
  });
  afterEach(async () => {
    temporal.thaw();
    await mongodb.close();
    await first.stop();
    await second.stop();
    await temporal.close();
    await receiver.close();
  });

  /** Posts all events to a process, each with its key. */
  const post = (system: TestSystem) => {
    const { request } = apiClient(system.url, client);
    return Promise.all(
      KEYS.map((key) =>
        request('POST', '/v18.0/events/purchase', { raw: PURCHASE, headers: { 'idempotency-key': key } }),
      ),
    );
  };
  const rows = (query = '') => readAll<DeliverySummary>(client, `/v18.0/deliveries?limit=100${query}`);

  /** Every view says that each event has one delivery, which was delivered at once, and the subscriber got that. */
  async function check(accepted: readonly Accepted[]): Promise<void> {
    const ids = accepted.flatMap(({ deliveries }) => deliveries.map(({ id }) => id)).sort();
    assert.equal(new Set(ids).size, EVENTS);
    const listed = await until(
      rows,
      (all) => all.length >= EVENTS && all.every(({ closed_at }) => closed_at),
    );
    assert.deepEqual(listed.map(({ id }) => id).sort(), ids);
    assert.deepEqual(
      (await readAll<{ id: string }>(client, '/v18.0/events')).map(({ id }) => id).sort(),
      accepted.map(({ id }) => id).sort(),
    );
    const deliveries: Delivery[] = await Promise.all(ids.map((id) => client.delivery(id)));
    for (const { status, attempts } of deliveries)
      assert.deepEqual([status, attempts.length], ['delivered', 1]);
    const received = receiver.received.map(({ headers }) => headers['webhook-id']).sort();
    assert.deepEqual(received, accepted.map(({ id }) => id).sort());
  }

  it('is found in the group that the first has started, and died before it knew', async () => {
    temporal.holdAnswers();
    const lost = post(first);
    await until(rows, (all) => all.length === EVENTS);
    await temporal.cut();
    const answers = await post(second);
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([202]), answers[0]?.text);
    const accepted = answers.map(({ json }) => json as Accepted);
    await check(accepted);
    const executions = new Set((await rows()).map(({ workflow_id }) => workflow_id));
    assert.ok(executions.size < EVENTS, 'most of them are in a group');
    await temporal.restore();
    await lost;
    await check(accepted);
  });

  it('is started by itself, and what the first sends later starts nothing', async () => {
    temporal.freeze();
    const slow = post(first);
    await until(
      () => mongodb.collection('idempotency_records').countDocuments(),
      (claims) => claims === EVENTS,
    );
    const answers = await post(second);
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([202]), answers[0]?.text);
    const accepted = answers.map(({ json }) => json as Accepted);
    await check(accepted);
    temporal.thaw();
    const late = await slow;
    for (const [index, { status, json }] of late.entries())
      if (status === 202) assert.equal(json.id, accepted[index]?.id);
    await check(accepted);
  });
});
