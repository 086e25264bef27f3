import assert from 'node:assert/strict';
import { deliveryParameters } from '../../../src/api/routes/deliveries/filters.js';
import { deliveryId } from '../../../src/domain/basics/delivery-id.js';
import type { DeliverySummary } from '../../../src/domain/view/delivery-view.js';
import type { ApiClient } from '../../support/api-client.js';
import {
  type CloudFrontend,
  startCloudFrontend,
  visibilityCalls,
} from '../../support/outside/cloud-frontend.js';
import { readAll } from '../../support/parts/pages.js';
import { startGroup } from '../../support/parts/start-group.js';
import { type Receiver, reply, startReceiver } from '../../support/receiver.js';
import { servers } from '../../support/servers.js';
import { startSystem, type TestSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

describe('lists of deliveries, open and closed [world]', () => {
  /** Counts the calls to Temporal. */
  let frontend: CloudFrontend;
  let system: TestSystem;
  let receiver: Receiver;
  let client: ApiClient;
  /** As they are listed at once. */
  let all: DeliverySummary[];
  let endpoints: string[];
  /** Events with a business key. */
  const orders = new Set<string>();

  before(async () => {
    frontend = await startCloudFrontend({ upstream: servers().temporalAddress });
    system = await startSystem({ HOOKLINE_RETRY_SCHEDULE: '1h', TEMPORAL_ADDRESS: frontend.address });
    receiver = await startReceiver();
    receiver.handle((request, ...rest) => reply(request.url === '/bad' ? 410 : 200)(request, ...rest));
    client = await system.account();
    const good = await client.register(`${receiver.url}/good`);
    const bad = await client.register(`${receiver.url}/bad`);
    endpoints = [good.id, bad.id];
    // Groups of two, three and four, and single ones to both endpoints between them.
    const ids: string[] = [];
    for (const size of [2, 3, 4]) {
      const times = Array.from({ length: size }, (_, index) => Date.now() - index);
      const { events } = await startGroup(system, client, good.id, times);
      const members = events.map(({ event_id }) => deliveryId({ event_id, endpoint_id: good.id }));
      ids.push(...members);
      for (const id of members) await client.deliveryUntil(id, ({ closed_at }) => closed_at !== undefined);
      const event = await client.purchase();
      orders.add(event.id);
      ids.push(...event.deliveries.map(({ id }) => id));
      for (const { id } of event.deliveries)
        if (id.endsWith(good.id.slice(3)))
          await client.deliveryUntil(id, (one) => one.closed_at !== undefined);
    }
    // What was parked behind the endpoint that is gone is closed by hand, but for the last.
    const parked = ids.filter((id) => id.endsWith(bad.id.slice(3)));
    for (const id of parked.slice(0, -1)) await client.request('POST', `/v18.0/deliveries/${id}/cancel`);
    all = await until(
      () => walk('/deliveries', 100),
      (rows) => {
        const open = rows.filter(({ closed_at }) => !closed_at);
        return rows.length === ids.length && open.length === 1 && open[0]?.status === 'parked';
      },
    );
  });
  after(async () => {
    await receiver.close();
    await system.stop();
    await frontend.close();
  });

  const walk = <T = DeliverySummary>(path: string, limit: number) =>
    readAll<T>(client, `/v18.0${path}${path.includes('?') ? '&' : '?'}limit=${limit}`);

  const filters = (middle: string): Record<string, (one: DeliverySummary) => boolean> => ({
    '': () => true,
    'status=delivered': ({ status }) => status === 'delivered',
    'open=false': ({ closed_at }) => closed_at !== undefined,
    'open=true': ({ closed_at }) => closed_at === undefined,
    'event_kind=purchase': () => true,
    'event_kind=endpoint.failing': () => false,
    'status_code=200': ({ status }) => status === 'delivered',
    'error_code=timeout': () => false,
    [`created_after=${middle}`]: ({ created_at }) => created_at > middle,
    [`created_before=${middle}`]: ({ created_at }) => created_at < middle,
    [`event_id=${all.at(-1)?.event_id}`]: ({ event_id }) => event_id === all.at(-1)?.event_id,
    // Deliveries of groups are of events without it.
    'key=order_id:order-1': ({ event_id }) => orders.has(event_id),
  });

  it('have the open ones first, and list each once, in the same order, on pages of any length', async () => {
    assert.deepEqual(
      all.map(({ closed_at }) => closed_at),
      [
        undefined,
        ...all
          .flatMap(({ closed_at }) => closed_at ?? [])
          .sort()
          .reverse(),
      ],
    );
    for (const limit of [1, 3, 100])
      assert.deepEqual(await walk('/deliveries', limit), all, `limit ${limit}`);
  });

  it('have those that match, whatever they are filtered by', async () => {
    const middle = all[Math.floor(all.length / 2)]?.created_at ?? '';
    const tried = new Set(Object.keys(filters(middle)).map((filter) => filter.split('=')[0]));
    for (const name of Object.keys(deliveryParameters))
      assert.ok(tried.has(name) || name === 'endpoint_id', `${name} is tried`);
    for (const [filter, matches] of Object.entries(filters(middle)))
      assert.deepEqual(await walk(`/deliveries?${filter}`, 4), all.filter(matches), filter);
    for (const id of endpoints)
      assert.deepEqual(
        await walk(`/deliveries?endpoint_id=${id}`, 3),
        all.filter(({ endpoint_id }) => endpoint_id === id),
      );
    for (const [path, of] of [
      ['/events', () => true],
      [`/events?endpoint_id=${endpoints[0]}`, ({ endpoint_id }) => endpoint_id === endpoints[0]],
      ['/events?open=false', ({ closed_at }) => closed_at !== undefined],
    ] as [string, (one: DeliverySummary) => boolean][]) {
      const found = await walk<{ id: string }>(path, 2);
      assert.deepEqual(sorted(found.map(({ id }) => id)), eventsOf(of), path);
    }
  });

  it('and no other request of an account have Temporal list or count anything', async () => {
    const made = visibilityCalls(frontend);
    assert.deepEqual(await walk('/deliveries', 3), all);
    await walk(`/deliveries?endpoint_id=${endpoints[0]}`, 3);
    await walk('/events', 3);
    const [{ id = '', event_id = '' } = {}] = all;
    const some = ['/replays', '/endpoints', '/stats', `/deliveries/${id}/timeline`, `/events/${event_id}`];
    for (const path of [...some, `/explain?event_id=${event_id}&endpoint_id=${endpoints[0]}`]) {
      const { status, text } = await client.request('GET', `/v18.0${path}`);
      assert.equal(status, 200, `${path}: ${text}`);
    }
    assert.equal(visibilityCalls(frontend), made);
  });

  const sorted = (ids: string[]) => [...ids].sort();
  const eventsOf = (of: (one: DeliverySummary) => boolean) =>
    sorted([...new Set(all.filter(of).map(({ event_id }) => event_id))]);
});
