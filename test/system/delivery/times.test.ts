import assert from 'node:assert/strict';
import { createdAt } from '../../../src/domain/basics/id-time.js';
import type { DeliverySummary } from '../../../src/domain/view/delivery-view.js';
import type { ApiClient } from '../../support/api-client.js';
import { startGroup } from '../../support/parts/start-group.js';
import { type Receiver, startReceiver } from '../../support/receiver.js';
import { type SharedSystem, sharedSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

const MINUTE_MS = 60_000;

describe('the time of an event', () => {
  let system: SharedSystem;
  let receiver: Receiver;
  let client: ApiClient;
  let endpointId: string;

  before(async () => {
    system = await sharedSystem();
    receiver = await startReceiver();
  });
  after(() => receiver.close());
  beforeEach(async () => {
    client = await system.account();
    endpointId = (await client.register(receiver.url)).id;
  });

  const get = async (path: string) => (await client.request('GET', `/v18.0${path}`)).json;
  /** Rows of deliveries that were attempted together may be written in parts. */
  const listed = (query: string, count = 1) =>
    until(
      async () => (await get(`/deliveries?${query}`)).data as DeliverySummary[],
      (found) => found.length >= count && found.every(({ status }) => status === 'delivered'),
    );

  it('is one in every view, and a resend does not move it', async () => {
    const event = await client.purchase();
    const id = event.deliveries[0]?.id ?? '';
    const isDelivered = ({ status }: { status: string }) => status === 'delivered';
    await client.deliveryUntil(id, isDelivered);
    assert.equal((await client.request('POST', `/v18.0/deliveries/${id}/resend`)).status, 202);
    const resent = await client.deliveryUntil(
      id,
      (one) => isDelivered(one) && one.earlier_runs !== undefined,
    );
    const [run] = resent.earlier_runs ?? [];
    assert.ok(run && run.started_at < resent.started_at);
    const [headed] = await until(
      async () => (await get('/events')).data as { created_at: string }[],
      ({ length }) => length > 0,
    );
    const created = [
      event.created_at,
      (await get(`/events/${event.id}`)).created_at,
      (await get(`/events/${event.id}`)).deliveries[0].created_at,
      headed?.created_at,
      (await listed(`event_id=${event.id}`))[0]?.created_at,
      resent.created_at,
      run.created_at,
    ];
    assert.deepEqual([...new Set(created)], [createdAt(event.id)]);
    // The period between acceptance and resend has it, what came after has not.
    const cut = encodeURIComponent(resent.started_at);
    assert.equal((await listed(`created_before=${cut}`)).length, 1);
    assert.deepEqual((await get(`/deliveries?created_after=${cut}`)).data, []);
    assert.deepEqual((await get(`/events?created_after=${cut}`)).data, []);
  });

  it('narrows lists to some deliveries of a group, also while paging', async () => {
    const now = Date.now();
    const times = Array.from({ length: 12 }, (_, index) => now - index * MINUTE_MS);
    const { events } = await startGroup(system, client, endpointId, times);
    const all = await listed('limit=100', times.length);
    assert.equal(all.length, times.length);
    for (const { event_id, created_at } of all)
      assert.equal(created_at, events.find((event) => event.event_id === event_id)?.accepted_at);
    const iso = (minutesAgo: number) =>
      encodeURIComponent(new Date(now - minutesAgo * MINUTE_MS).toISOString());
    // Neither limit belongs to the period.
    const period = `created_after=${iso(8)}&created_before=${iso(3)}`;
    const expected = events
      .slice(4, 8)
      .map(({ event_id }) => event_id)
      .sort();
    for (const path of ['deliveries', 'events']) {
      const found: string[] = [];
      for (let next = `/${path}?limit=3&${period}`; next; ) {
        const { data, paging } = await get(next);
        found.push(...data.map((one: { id: string; event_id?: string }) => one.event_id ?? one.id));
        next = paging.next?.replace(/^.*\/v18\.0/, '') ?? '';
      }
      assert.deepEqual(found.sort(), expected, path);
    }
  });
});
