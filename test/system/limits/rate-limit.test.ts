import assert from 'node:assert/strict';
import { pino } from 'pino';
import { type Service, startService } from '../../../src/bin/service.js';
import { connectDatabase } from '../../../src/models/database.js';
import { apiClient } from '../../support/api-client.js';
import { type Receiver, startReceiver } from '../../support/receiver.js';
import { type SharedSystem, sharedSystem } from '../../support/system.js';

const RATE = 10;
const EVENTS = 30;

describe('an endpoint’s rate limit', () => {
  let system: SharedSystem;
  let other: Service;
  let receiver: Receiver;

  before(async () => {
    system = await sharedSystem();
    other = await startService(system.settings, 'all', pino({ level: 'silent' }));
    receiver = await startReceiver();
  });
  after(async () => {
    await receiver.close();
    await other.stop();
  });

  it('holds across processes, and drops nothing [world]', async () => {
    const client = await system.account();
    const second = apiClient(other.url ?? '', client);
    const limited = await client.register(receiver.url, { rate_limit: RATE });
    const events = await Promise.all(
      Array.from({ length: EVENTS }, (_, index) => (index % 2 === 0 ? client : second).purchase()),
    );
    const ids = events.map(
      ({ deliveries }) => deliveries.find(({ endpoint_id }) => endpoint_id === limited.id)?.id ?? '',
    );
    const delivered = await Promise.all(
      ids.map((id) => client.deliveryUntil(id, ({ status }) => status === 'delivered')),
    );
    assert.equal(receiver.received.length, EVENTS);
    assert.ok(delivered.every(({ attempts }) => attempts.length === 1));

    // A turn is used within a second of its time, so any stretch of t seconds sees at most the turns of t + 1 seconds.
    const times = delivered
      .flatMap(({ attempts }) => attempts.map(({ at }) => Date.parse(at)))
      .sort((a, b) => a - b);
    for (const [first, from] of times.entries()) {
      for (const [last, to] of times.entries()) {
        const seconds = (to - from) / 1_000;
        if (last >= first)
          assert.ok(last - first + 1 <= RATE * (seconds + 1) + 1, `${last - first + 1} in ${seconds} s`);
      }
    }
  });

  it('cancels a delivery that waits for its turn', async () => {
    const client = await system.account();
    const limited = await client.register(receiver.url, { rate_limit: 0.02 });
    const first = await client.purchase();
    // It has the first turn.
    await client.deliveryUntil(first.deliveries[0]?.id ?? '', ({ status }) => status === 'delivered');
    const event = await client.purchase();
    const id = event.deliveries.find(({ endpoint_id }) => endpoint_id === limited.id)?.id ?? '';
    const queued = await client.deliveryUntil(id, ({ next_attempt_at }) => next_attempt_at !== undefined);
    assert.match(
      queued.reason ?? '',
      /Deferred: the endpoint gets at most 0\.02 deliveries per second\. Next attempt at /,
    );
    assert.equal(queued.status, 'delivering');
    const early = await client.request('POST', `/v18.0/deliveries/${id}/retry`);
    assert.equal(early.status, 409);
    assert.match(early.json.detail, /waits its turn/);
    assert.equal((await client.request('POST', `/v18.0/deliveries/${id}/cancel`)).status, 200);
    await client.deliveryUntil(id, ({ status }) => status === 'cancelled');
  });

  it('assigns each turn once, at the interval of the rate, to any process', async () => {
    const processes = [
      await connectDatabase(uri()),
      await connectDatabase(uri()),
      await connectDatabase(uri()),
    ];
    try {
      const turns = await Promise.all(
        Array.from({ length: 60 }, (_, index) => processes[index % 2]?.deliveryTurns.take('ep_x', 50)),
      );
      turns.push(await processes[2]?.deliveryTurns.take('ep_x', 50));
      assert.equal(new Set(turns).size, 61);
      const inOrder = turns.map(Number).sort((a, b) => a - b);
      assert.ok(inOrder.every((turn, i) => i === 0 || turn - (inOrder[i - 1] ?? 0) >= 20));
      assert.equal(turns.at(-1), Math.max(...turns.map(Number)));
    } finally {
      for (const database of processes) await database.close();
    }
  });

  it('tells a turn that is later than it may be, and does not take it', async () => {
    const { deliveryTurns } = system.database;
    const now = await deliveryTurns.take('ep_y', 0.01);
    for (let asked = 0; asked < 2; asked++)
      assert.equal(await deliveryTurns.take('ep_y', 0.01, 2_000), now + 100_000);
    assert.equal(await deliveryTurns.take('ep_y', 0.01, 100_000), now + 100_000);
    assert.equal(await deliveryTurns.take('ep_y', 0.01), now + 200_000);
  });

  const uri = () => system.environment['MONGODB_URI'] ?? '';
});
