import assert from 'node:assert/strict';
import { SLOTS } from '../../../src/domain/endpoint/breaker/endpoint-condition.js';
import type { Delivery, DeliverySummary } from '../../../src/domain/view/delivery-view.js';
import { type Accepted, type ApiClient, PURCHASE, registering } from '../../support/api-client.js';
import { readAll } from '../../support/parts/pages.js';
import { promised } from '../../support/promised.js';
import { type Receiver, reply, startReceiver } from '../../support/receiver.js';
import { ONE_BY_ONE, type SharedSystem, sharedSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

const EVENTS = 60;
const RETRIES = { retry_schedule: ['100ms', '100ms'] };

const ids = (rows: readonly { id: string }[]) => rows.map(({ id }) => id).sort();

describe('group commit', () => {
  let system: SharedSystem;
  let receiver: Receiver;
  let failing: Receiver;
  let client: ApiClient;
  let events: Accepted[];

  before(async () => {
    // No pause of this machine makes an endpoint a slow one, whose deliveries would be committed with those to failing
    // ones.
    system = await sharedSystem({ HOOKLINE_SLOW_RESPONSE: '20s' });
    receiver = await startReceiver();
    failing = await startReceiver({ handler: reply(500) });
    client = registering(await system.account(), RETRIES);
    await client.register(receiver.url);
    events = await Promise.all(Array.from({ length: EVENTS }, () => client.purchase()));
    await receiver.waitFor((all) => all.length >= EVENTS);
  });
  after(async () => {
    await receiver.close();
    await failing.close();
  });

  const rows = (query = '') => readAll<DeliverySummary>(client, `/v18.0/deliveries?limit=7${query}`);
  const delivered = () =>
    until(
      () => rows('&status=delivered'),
      (all) => all.length >= EVENTS,
    );

  it('delivers every event once, most of them in groups', async () => {
    assert.deepEqual(receiver.received.map(({ headers }) => headers['webhook-id']).sort(), ids(events));
    const executions = new Set((await delivered()).map(({ workflow_id }) => workflow_id));
    assert.ok(executions.size < EVENTS / 2, `${executions.size} executions`);
  });

  it('lists single deliveries, each once, also by filter [world]', async () => {
    const expected = events.flatMap(({ deliveries }) => ids(deliveries)).sort();
    assert.deepEqual(ids(await delivered()), expected);
    assert.deepEqual(ids(await rows()), expected);
    assert.deepEqual(ids(await readAll(client, '/v18.0/events?limit=10')), ids(events));
    const [event] = events;
    assert.deepEqual(ids(await rows(`&event_id=${event?.id}`)), ids(event?.deliveries ?? []));
    assert.deepEqual(await rows('&status=retrying'), []);
  });

  it('reads every delivery and event of a group by itself', async () => {
    await delivered();
    for (const event of events.slice(-5)) {
      const delivery = await client.delivery(event.deliveries[0]?.id ?? '');
      assert.equal(delivery.event_id, event.id);
      assert.equal(delivery.status, 'delivered');
      assert.equal(delivery.attempts[0]?.status_code, 200);
      const read = await client.request('GET', `/v18.0/events/${event.id}`);
      assert.ok(read.text.endsWith(`"payload":${PURCHASE}}`));
      assert.deepEqual(ids(read.json.deliveries), ids(event.deliveries));
    }
  });

  it('shows a group’s deliveries to their own account only [world]', async () => {
    const other = registering(await system.account(), RETRIES);
    await other.register(receiver.url);
    const mixed = await Promise.all(
      Array.from({ length: 20 }, (_, index) => (index % 2 ? other : client).purchase()),
    );
    const theirs = mixed.filter((_, index) => index % 2);
    const seen = await until(
      () => readAll<DeliverySummary>(other, '/v18.0/deliveries?status=delivered'),
      (all) => all.length >= theirs.length,
    );
    assert.deepEqual(seen.map(({ event_id }) => event_id).sort(), ids(theirs));
    assert.deepEqual(ids(await readAll(other, '/v18.0/events')), ids(theirs));
    assert.equal(
      (await other.request('GET', `/v18.0/deliveries/${events.at(-1)?.deliveries[0]?.id}`)).status,
      404,
    );
    assert.equal((await other.request('GET', `/v18.0/events/${events.at(-1)?.id}`)).status, 404);
  });

  it('continues deliveries that did not succeed with their first attempt [world]', async () => {
    const unlucky = registering(await system.account(), RETRIES);
    await unlucky.register(failing.url);
    // All are on their way before the first failure is known: those that come later would wait until the endpoint
    // answers again.
    const { promise: allAccepted, resolve: answer } = promised();
    failing.handle(async (...exchange) => {
      await allAccepted;
      await reply(500)(...exchange);
    });
    // With ten failures the circuit breaker would open.
    const sent = await Promise.all(Array.from({ length: 3 }, () => unlucky.purchase()));
    answer();
    const closed = await Promise.all(
      sent.map(({ deliveries }) =>
        unlucky.deliveryUntil(deliveries[0]?.id ?? '', ({ status }: Delivery) => status === 'exhausted'),
      ),
    );
    for (const { attempts, event_id } of closed) {
      assert.deepEqual(
        attempts.map(({ number, status_code }) => [number, status_code]),
        [
          [1, 500],
          [2, 500],
          [3, 500],
        ],
      );
      assert.equal(failing.received.filter(({ headers }) => headers['webhook-id'] === event_id).length, 3);
    }
    const listed = await until(
      () => readAll<DeliverySummary>(unlucky, '/v18.0/deliveries'),
      (all) => all.length >= sent.length && all.every(({ status }) => status === 'exhausted'),
    );
    assert.equal(listed.length, sent.length);
    assert.deepEqual(ids(await readAll(unlucky, '/v18.0/events')), ids(sent));
  });

  it('commits deliveries to unhealthy endpoints in groups too, apart from those to healthy ones [world]', async () => {
    const account = registering(await system.account(), RETRIES);
    const bad = await account.register(failing.url);
    await account.purchase();
    await until(
      async () => (await account.request('GET', `/v18.0/endpoints/${bad.id}`)).json,
      ({ incident }) => incident !== undefined,
    );
    // Not before, because two deliveries of the first event could be in one group.
    const good = await account.register(receiver.url);
    // On a busy machine, an endpoint of which all slots are taken would be kept apart, too.
    const events = await Promise.all(Array.from({ length: SLOTS.first - 1 }, () => account.purchase()));
    await until(
      () => readAll<DeliverySummary>(account, '/v18.0/deliveries'),
      (all) => all.length === 2 * events.length + 1,
    );
    const count = async (...endpoints: { id: string }[]) => {
      const query = [
        "WorkflowType = 'deliver' AND WorkflowId STARTS_WITH 'group:'",
        ...endpoints.map(({ id }) => `HooklineEndpoint = '${id}'`),
      ];
      return (await system.temporal.client.workflow.count(query.join(' AND '))).count;
    };
    for (const one of [good, bad])
      await until(
        () => count(one),
        (found) => found > 0,
      );
    assert.equal(await count(good, bad), 0);
  });

  it('can be switched off: strictly one workflow for each delivery [world]', async () => {
    const strict = await sharedSystem(ONE_BY_ONE);
    const account = await strict.account();
    await account.register(receiver.url);
    await Promise.all(Array.from({ length: 10 }, () => account.purchase()));
    const all = await until(
      () => readAll<DeliverySummary>(account, '/v18.0/deliveries?status=delivered'),
      (found) => found.length >= 10,
    );
    assert.equal(new Set(all.map(({ workflow_id }) => workflow_id)).size, 10);
  });
});
