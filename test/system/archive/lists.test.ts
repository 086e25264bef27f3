import assert from 'node:assert/strict';
import { deliveryParameters } from '../../../src/api/routes/deliveries/filters.js';
import { deliveryId } from '../../../src/domain/basics/delivery-id.js';
import type { DeliverySummary } from '../../../src/domain/delivery/delivery-view.js';
import type { ApiClient } from '../../support/api-client.js';
import {
  type CloudFrontend,
  startCloudFrontend,
  visibilityCalls,
} from '../../support/outside/cloud-frontend.js';
import { readAll } from '../../support/parts/pages.js';
import { archived, forget } from '../../support/parts/records.js';
import { startGroup } from '../../support/parts/start-group.js';
import { type Receiver, reply, startReceiver } from '../../support/receiver.js';
import { servers } from '../../support/servers.js';
import { startSystem, type TestSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

describe('lists that go on into the archive [world]', () => {
  /** Counts the calls to Temporal. */
  let frontend: CloudFrontend;
  let system: TestSystem;
  let receiver: Receiver;
  let client: ApiClient;
  /** As the ledger listed them when it had all. */
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
    // What was parked behind the endpoint that is gone is closed by hand.
    for (const id of ids) await client.request('POST', `/v18.0/deliveries/${id}/cancel`);
    await archived(system, client, ids);
    all = await until(
      () => walk('/deliveries', 100),
      (rows) => rows.length === ids.length && rows.every(({ closed_at }) => closed_at !== undefined),
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
    'open=false': () => true,
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

  it('list each row once, in the same order, whichever of them Temporal has removed', async () => {
    // One in three, so that what is missing lies between others; then the oldest half, as retention does; then all.
    const half = all.slice(all.length / 2);
    const stages = [all.filter((_, index) => index % 3 === 1), half, all];
    const events = await walk<{ id: string }>('/events', 100);
    for (const stage of stages) {
      const remaining = new Set((await ledgerRows()).map(({ run_id }) => run_id));
      await forget(
        system,
        stage.filter(({ run_id }) => remaining.has(run_id)),
      );
      for (const limit of stage === half ? [1, 3, 100] : [3])
        assert.deepEqual(await walk('/deliveries', limit), all, `limit ${limit}`);
      // How rows of both lists become one is a unit test's (merged-list.test.ts), which has every order.
      if (stage !== half) continue;
      const middle = all[Math.floor(all.length / 2)]?.created_at ?? '';
      const tried = new Set(Object.keys(filters(middle)).map((filter) => filter.split('=')[0]));
      for (const name of Object.keys(deliveryParameters))
        assert.ok(tried.has(name) || name === 'endpoint_id', `${name} is tried on both lists`);
      for (const [filter, matches] of Object.entries(filters(middle)))
        assert.deepEqual(await walk(`/deliveries?${filter}`, 4), all.filter(matches), filter);
      for (const id of endpoints)
        assert.deepEqual(
          await walk(`/deliveries?endpoint_id=${id}`, 3),
          all.filter(({ endpoint_id }) => endpoint_id === id),
        );
      assert.deepEqual(await walk('/events', 2), events);
      for (const path of [`/events?endpoint_id=${endpoints[0]}`, '/events?open=false']) {
        const found = await walk<{ id: string }>(path, 2);
        assert.deepEqual(
          sorted(found.map(({ id }) => id)),
          eventsOf(path.includes('endpoint') ? endpoints[0] : undefined),
          path,
        );
      }
    }
  });

  it('ask Temporal about what the archive is complete of only whether it was sent again', async () => {
    const own = await system.account();
    await own.register(`${receiver.url}/good`);
    const ids: string[] = [];
    for (let sent = 0; sent < 6; sent += 1) {
      const [delivery] = (await own.purchase()).deliveries;
      ids.push((await own.deliveryUntil(delivery?.id ?? '', ({ status }) => status === 'delivered')).id);
    }
    await archived(system, own, ids);
    const rows = () => readAll<DeliverySummary>(own, '/v18.0/deliveries?limit=3');
    const before = await until(rows, (found) => found.every(({ closed_at }) => closed_at !== undefined));
    const began = visibilityCalls(frontend);
    await rows();
    const sideBySide = visibilityCalls(frontend) - began;
    // As some minutes later.
    await system.database.archive.advance(new Date(Date.now() + 10 * 60_000));
    const made = visibilityCalls(frontend);
    assert.deepEqual(await rows(), before);
    // The first page asks for what is open or closed since as well.
    assert.equal(visibilityCalls(frontend) - made, 3);
    assert.ok(sideBySide > 3, `${sideBySide} calls when both are read`);
  });

  const sorted = (ids: string[]) => [...ids].sort();
  const eventsOf = (endpointId: string | undefined) =>
    sorted([
      ...new Set(
        all
          .filter(({ endpoint_id }) => endpointId === undefined || endpoint_id === endpointId)
          .map(({ event_id }) => event_id),
      ),
    ]);

  async function ledgerRows() {
    const rows: { run_id: string }[] = [];
    const query = `HooklineAccount = '${client.accountId}'`;
    for await (const { runId } of system.temporal.client.workflow.list({ query }))
      rows.push({ run_id: runId });
    return rows;
  }
});
