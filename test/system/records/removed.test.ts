import assert from 'node:assert/strict';
import type { TimelineItem } from '../../../src/domain/explain/timeline.js';
import type { Delivery } from '../../../src/domain/view/delivery-view.js';
import { type Accepted, type ApiClient, PURCHASE } from '../../support/api-client.js';
import { forget, recorded } from '../../support/parts/records.js';
import { inTurn, type Receiver, reply, startReceiver } from '../../support/receiver.js';
import { startSystem, type TestSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

describe('a delivery that Temporal has removed', () => {
  let system: TestSystem;
  let receiver: Receiver;
  let client: ApiClient;

  before(async () => {
    system = await startSystem({ HOOKLINE_RETRY_SCHEDULE: '100ms', HOOKLINE_PROBE_INTERVAL: '1s' });
    receiver = await startReceiver();
  });
  after(async () => {
    await receiver.close();
    await system.stop();
  });
  beforeEach(async () => {
    client = await system.account();
    receiver.handle(reply(200));
  });

  const get = async (path: string, by = client) => {
    const { status, json, text } = await by.request('GET', `/v18.0${path}`);
    assert.equal(status, 200, text);
    return json;
  };
  const closed = (event: Accepted) =>
    Promise.all(
      event.deliveries.map(({ id }) => client.deliveryUntil(id, ({ closed_at }) => closed_at !== undefined)),
    );

  /** Everything that the API says of a delivery and its event. */
  const views = async ({ id, event_id, endpoint_id }: Delivery) => {
    const [delivery, timeline, event, explained] = await Promise.all([
      get(`/deliveries/${id}`),
      get(`/deliveries/${id}/timeline`),
      get(`/events/${event_id}`),
      get(`/explain?event_id=${event_id}&endpoint_id=${endpoint_id}`),
    ]);
    const lists = {
      deliveries: await get(`/deliveries?event_id=${event_id}`),
      extended: await get(`/deliveries?event_id=${event_id}&include=last_attempt,business_keys`),
      byStatus: await get(`/deliveries?event_id=${event_id}&status=${delivery.status}`),
      byKey: await get(`/events?key=order_id:order-1`),
      events: await get('/events'),
      eventsOfEndpoint: await get(`/events?endpoint_id=${endpoint_id}`),
    };
    return { delivery, timeline, event, explained, ...lists };
  };

  it('is shown as before, field by field, and to nobody else', async () => {
    await client.register(receiver.url);
    receiver.handle(inTurn(reply(500, {}, 'later'), reply(200)));
    const [delivery] = await closed(await client.purchase());
    assert.ok(delivery);
    assert.equal(delivery.attempts.length, 2);
    // The end of the incident comes a moment after that of the delivery.
    await until(
      () => get(`/deliveries/${delivery.id}/timeline`),
      ({ data }) => data.some(({ text }: TimelineItem) => text.endsWith('its incident ended.')),
    );
    await recorded(system, client, [delivery.id]);
    const before = await until(
      () => views(delivery),
      ({ events, byKey }) => events.data.length === 1 && byKey.data.length === 1,
    );
    const [row] = before.extended.data;
    assert.deepEqual(row.business_keys, [{ name: 'order_id', value: 'order-1' }]);
    assert.deepEqual([row.last_attempt.number, row.last_attempt.status_code], [2, 200]);
    await forget(system, [delivery]);
    assert.deepEqual(await views(delivery), before);
    assert.equal(
      (await client.request('GET', `/v18.0/events/${delivery.event_id}`)).text.includes(
        `"payload":${PURCHASE}`,
      ),
      true,
    );

    const other = await system.account();
    for (const path of [
      `/deliveries/${delivery.id}`,
      `/deliveries/${delivery.id}/timeline`,
      `/events/${delivery.event_id}`,
    ])
      assert.equal((await other.request('GET', `/v18.0${path}`)).status, 404, path);
    for (const path of ['/deliveries', '/events', `/deliveries?event_id=${delivery.event_id}`])
      assert.deepEqual((await get(path, other)).data, [], path);
  });

  /** Without the endpoint's incident, which ends a moment after the delivery. */
  const timelineOf = async (id: string): Promise<TimelineItem[]> =>
    (await get(`/deliveries/${id}/timeline`)).data.filter(({ type }: TimelineItem) => type !== 'incident');

  it('is sent again, and shows its runs from before and after [world]', async () => {
    await client.register(receiver.url);
    receiver.handle(reply(500));
    const [first] = await closed(await client.purchase());
    assert.equal(first?.status, 'exhausted');
    const { id } = first;
    await recorded(system, client, [id]);
    const before = await timelineOf(id);
    await forget(system, [first]);
    receiver.handle(reply(200));
    const { status, text } = await client.request('POST', `/v18.0/deliveries/${id}/resend`);
    assert.equal(status, 202, text);
    const second = await client.deliveryUntil(id, (one) => one.status === 'delivered');
    assert.equal(second.earlier_runs?.[0]?.run_id, first.run_id);
    assert.equal(second.earlier_runs?.[0]?.attempts.length, 2);
    const timeline = await timelineOf(id);
    assert.deepEqual(timeline.slice(0, before.length), before);

    await recorded(system, client, [id]);
    const found = await system.database.records.record(client.accountId, id);
    const { revision, earlier_runs, ...record } = JSON.parse(found?.text ?? '{}');
    assert.deepEqual([record.status, revision, earlier_runs[0].run_id], ['delivered', 2, first.run_id]);
    const [closedSecond, whole] = [await client.delivery(id), await timelineOf(id)];
    await forget(system, [second]);
    assert.deepEqual(await get(`/deliveries/${id}`), closedSecond);
    assert.deepEqual(await timelineOf(id), whole);
  });
});
