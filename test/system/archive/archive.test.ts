import assert from 'node:assert/strict';
import { committedRecord } from '../../../src/domain/archive/commitments.js';
import { MAX_TIMELINE_BYTES } from '../../../src/domain/archive/fitting.js';
import type { Delivery, DeliverySummary } from '../../../src/domain/delivery/delivery-view.js';
import type { TimelineItem } from '../../../src/domain/explain/timeline.js';
import { type Accepted, type ApiClient, PURCHASE } from '../../support/api-client.js';
import { archived, forget, runRecords } from '../../support/parts/records.js';
import { startGroup } from '../../support/parts/start-group.js';
import { inTurn, type Receiver, reply, startReceiver } from '../../support/receiver.js';
import { startSystem, type TestSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

describe('the archive', () => {
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

  it('shows a delivery that Temporal has removed as before, field by field, and to nobody else', async () => {
    await client.register(receiver.url);
    receiver.handle(inTurn(reply(500, {}, 'later'), reply(200)));
    const [delivery] = await closed(await client.purchase());
    assert.ok(delivery);
    assert.equal(delivery.attempts.length, 2);
    // In earnest the archive runs long after the end of the incident, which comes a moment after that of the delivery.
    await until(
      () => get(`/deliveries/${delivery.id}/timeline`),
      ({ data }) => data.some(({ text }: TimelineItem) => text.endsWith('its incident ended.')),
    );
    await archived(system, client, [delivery.id]);
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

  it('shows the deliveries of a group as before [world]', async () => {
    const endpoint = await client.register(receiver.url);
    const { events } = await startGroup(
      system,
      client,
      endpoint.id,
      [1, 2, 3].map((n) => Date.now() - n),
    );
    const ids = events.map(({ event_id }) => `dlv_${event_id.slice(4)}_${endpoint.id.slice(3)}`);
    const deliveries: Delivery[] = [];
    for (const id of ids)
      deliveries.push(await client.deliveryUntil(id, (one) => one.status === 'delivered'));
    await archived(system, client, ids);
    const list = () => get('/deliveries?limit=2').then(({ data }) => data);
    await until(list, (data) => data.length === 2 && data.every((one: DeliverySummary) => one.closed_at));
    const before = await Promise.all(deliveries.map(views));
    await forget(system, deliveries.slice(0, 1));
    assert.deepEqual(await Promise.all(deliveries.map(views)), before);
  });

  it('lists an event whose delivery was archived while its group was open [world]', async () => {
    const endpoint = await client.register(receiver.url);
    let first: unknown;
    receiver.handle((request, ...rest) => {
      const { 'webhook-id': id } = request.headers;
      first ??= id;
      return (id === first ? reply(200) : reply(503, { 'retry-after': '3000' }))(request, ...rest);
    });
    const { events } = await startGroup(system, client, endpoint.id, [Date.now() - 1, Date.now()]);
    const members = () =>
      Promise.all(
        events.map(({ event_id }) =>
          client.delivery(`dlv_${event_id.slice(4)}_${endpoint.id.slice(3)}`).catch(() => undefined),
        ),
      );
    const [done, open] = await until(
      async () => {
        const all = await members();
        return [
          all.find((one) => one?.status === 'delivered'),
          all.find((one) => one?.status === 'retrying' || one?.status === 'parked'),
        ] as const;
      },
      ([one, other]) => one !== undefined && other !== undefined,
    );
    assert.ok(done && open);
    await archived(system, client, [done.id]);
    assert.equal((await client.request('POST', `/v18.0/deliveries/${open.id}/cancel`)).status, 200);
    await client.deliveryUntil(open.id, ({ status }) => status === 'cancelled');
    await archived(system, client, [open.id]);
    const before = await get('/events');
    assert.equal(before.data.length, 2);
    await forget(system, [done]);
    assert.deepEqual(await get('/events'), before);
  });

  /** Without the endpoint's incident, which ends a moment after the delivery: in earnest the archive waits for that. */
  const timelineOf = async (id: string): Promise<TimelineItem[]> =>
    (await get(`/deliveries/${id}/timeline`)).data.filter(({ type }: TimelineItem) => type !== 'incident');

  it('sends an archived delivery again, and shows its runs from before and after [world]', async () => {
    await client.register(receiver.url);
    receiver.handle(reply(500));
    const [first] = await closed(await client.purchase());
    assert.equal(first?.status, 'exhausted');
    const { id } = first;
    await archived(system, client, [id]);
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

    const recordOf = async () => {
      await runRecords(system);
      const found = await system.database.archive.record(client.accountId, id);
      return JSON.parse(found?.text ?? '{}');
    };
    const record = await until(recordOf, ({ revision }) => revision === 2);
    assert.equal(record.status, 'delivered');
    assert.equal(record.earlier_runs[0].run_id, first.run_id);
    // What it was read as before may be from the moment before its execution closed.
    const [closedSecond, whole] = [await client.delivery(id), await timelineOf(id)];
    await forget(system, [second]);
    assert.deepEqual(await get(`/deliveries/${id}`), closedSecond);
    assert.deepEqual(await timelineOf(id), whole);
  });

  it('keeps the newest of what a delivery that was sent again and again has to tell [world]', async () => {
    await client.register(receiver.url);
    receiver.handle(reply(200));
    const [first] = await closed(await client.purchase());
    const { id = '', event_id = '', started_at = '' } = first ?? {};
    await archived(system, client, [id]);
    const { archive } = system.database;
    const before = (await archive.delivery(client.accountId, id)) ?? assert.fail();
    const waits = Array.from({ length: 8_000 }, (_, number) => {
      const at = new Date(Date.parse(started_at) - 8_000 + number).toISOString();
      return { at, type: 'wait', text: 'x'.repeat(1_000) };
    });
    const told = JSON.stringify([...waits, ...JSON.parse(before.timeline ?? '[]')]);
    const key = (await archive.storedPayload(client.accountId, event_id)) ?? '';
    const view = { ...before, timeline: told };
    const shown = { ...JSON.parse(before.summary), ...JSON.parse(before.detail ?? '') };
    const salts = await archive.saltsOf({ accountId: client.accountId, eventId: event_id }, key, before);
    const { payload_commitment } = JSON.parse(before.record);
    const record = committedRecord(
      client.accountId,
      { ...view, closed: shown },
      1,
      payload_commitment,
      salts,
    );
    const known = (await archive.rows.known([id])).get(id) ?? assert.fail();
    await archive.rows.keep([{ delivery: { ...view, record, key }, before: known }]);
    await forget(system, first ? [first] : []);
    assert.equal((await client.request('POST', `/v18.0/deliveries/${id}/resend`)).status, 202);
    const after = await until(
      async () => {
        await runRecords(system);
        return archive.delivery(client.accountId, id);
      },
      (found) => found?.revision === 2,
    );
    const { timeline = '' } = after ?? {};
    assert.ok(Buffer.byteLength(timeline) <= MAX_TIMELINE_BYTES + 2);
    const items: TimelineItem[] = JSON.parse(timeline);
    assert.deepEqual([items[0]?.type, items.at(-1)?.type], ['wait', 'closed']);
  });
});
