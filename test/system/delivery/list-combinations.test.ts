import assert from 'node:assert/strict';
import { CURSOR_SECRET, cursorPlace } from '../../../src/api/http/ledger-paging.js';
import { isClosed, type ShownStatus } from '../../../src/domain/delivery/delivery.js';
import { sealCursor } from '../../../src/domain/http/cursor-seal.js';
import { groupWorkflowId } from '../../../src/domain/ledger/workflow-ids.js';
import type { Delivery } from '../../../src/domain/view/delivery-view.js';
import { type ApiClient, PURCHASE } from '../../support/api-client.js';
import { untilHeard } from '../../support/history.js';
import { readAll } from '../../support/parts/pages.js';
import { startGroup } from '../../support/parts/start-group.js';
import { type Receiver, reply, startReceiver } from '../../support/receiver.js';
import { type SharedSystem, sharedSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

interface Row {
  id: string;
  event_id?: string;
}

const purchase = (order_id: string, total = 500) =>
  JSON.stringify({ ...JSON.parse(PURCHASE), order_id, total });
/** Few events go to endpoints that fail, so that their incidents hold none of them back. */
const SMALL = { filter: { path: '/total', less_than: 100 } };
const SMALL_EVENTS = 4;
const LARGE_EVENTS = 9;
/** Deliveries to an endpoint that fails which are one group, whatever the load is. */
const GROUPED = 3;
const ids = (rows: readonly Row[]) => rows.map(({ id }) => id).sort();

describe('lists by several filters', () => {
  let system: SharedSystem;
  let client: ApiClient;
  const receivers: Receiver[] = [];
  let endpoints: string[];
  let all: Delivery[];
  /** The id of its execution. */
  let group: string;

  before(async () => {
    system = await sharedSystem();
    client = await system.account();
    const register = async (status: number, more: Record<string, unknown> = {}): Promise<string> => {
      const receiver = await startReceiver({ handler: reply(status) });
      receivers.push(receiver);
      return (await client.register(receiver.url, more)).id;
    };
    const gone = await startReceiver();
    endpoints = [
      await register(200),
      await register(204),
      await register(500, { ...SMALL, retry_schedule: ['100ms'] }),
      await register(503, SMALL),
      (await client.register(gone.url, SMALL)).id,
      await register(200),
    ];
    await gone.close();
    await client.request('POST', `/v18.0/endpoints/${endpoints[5]}/pause`);
    // Alone, in groups, and with several endpoints each.
    await client.purchase(purchase('alone', 1));
    const orders = Array.from(
      { length: LARGE_EVENTS + SMALL_EVENTS - 1 },
      (_, index) => `order-${index % 3}`,
    );
    await Promise.all(
      orders.map((order, index) => client.purchase(purchase(order, index < LARGE_EVENTS ? 500 : 1))),
    );
    // The newest: other executions follow it in every list.
    const times = Array.from({ length: GROUPED }, () => Date.now());
    const { groupId } = await startGroup(system, client, endpoints[3] ?? '', times);
    group = groupWorkflowId(groupId);
    const open = await until(
      () => readAll<Delivery>(client, '/v18.0/deliveries?limit=100'),
      (rows) =>
        rows.length === LARGE_EVENTS * 3 + SMALL_EVENTS * 6 + GROUPED &&
        rows.every(({ status }) => status !== 'delivering') &&
        rows.filter(({ status }) => status === 'exhausted').length === SMALL_EVENTS,
    );
    const waiting = open
      .filter(({ status, workflow_id }) => status === 'retrying' && workflow_id !== group)
      .slice(0, 3);
    for (const { id } of waiting) await client.request('POST', `/v18.0/deliveries/${id}/cancel`);
    for (const { id } of waiting) await client.deliveryUntil(id, ({ closed_at }) => closed_at !== undefined);
    const [first] = waiting;
    await untilHeard(system, first?.workflow_id ?? '');
    assert.equal((await client.request('POST', `/v18.0/deliveries/${first?.id}/resend`)).status, 202);
    await client.deliveryUntil(first?.id ?? '', ({ status }) => status === 'retrying');
    all = await Promise.all(open.map(({ id }) => client.delivery(id)));
    // Until lists know the last of it, too.
    const runs = (rows: readonly Delivery[]) =>
      rows
        .map(({ run_id, id }) => `${run_id} ${id}`)
        .sort()
        .join();
    await until(
      () => readAll<Delivery>(client, '/v18.0/deliveries?limit=100&open=true'),
      (rows) => runs(rows) === runs(all.filter(({ status }) => !isClosed(status))),
    );
  });
  after(async () => {
    for (const receiver of receivers) await receiver.close();
  });

  const filters: Record<string, [value: string, matches: (delivery: Delivery) => boolean][]> = {
    status: [
      ['retrying', ({ status }) => status === 'retrying'],
      ['delivered,parked', ({ status }) => status === 'delivered' || status === 'parked'],
      ['exhausted,cancelled', ({ status }) => (['exhausted', 'cancelled'] as ShownStatus[]).includes(status)],
    ],
    open: [
      ['true', ({ status }) => !isClosed(status)],
      ['false', ({ status }) => isClosed(status)],
    ],
    status_code: [
      ['204', ({ attempts }) => attempts.at(-1)?.status_code === 204],
      ['500', ({ attempts }) => attempts.at(-1)?.status_code === 500],
      ['503', ({ attempts }) => attempts.at(-1)?.status_code === 503],
    ],
    error_code: [
      ['connection_refused', ({ attempts }) => attempts.at(-1)?.error_code === 'connection_refused'],
    ],
    key: [['order_id:order-1', ({ event_id }) => orderOf.get(event_id) === 'order-1']],
    endpoint_id: [
      ['3', ({ endpoint_id }) => endpoint_id === endpoints[3]],
      ['0', ({ endpoint_id }) => endpoint_id === endpoints[0]],
    ],
  };
  const orderOf = new Map<string, string>();

  it('have what matches all of them, each once, for deliveries and their events [world]', async () => {
    for (const order of ['order-0', 'order-1', 'order-2', 'alone'])
      for (const { id } of await readAll(client, `/v18.0/events?limit=100&key=order_id:${order}`))
        orderOf.set(id, order);
    assert.equal(orderOf.size, LARGE_EVENTS + SMALL_EVENTS);

    const names = Object.keys(filters);
    let compared = 0;
    for (const [position, one] of names.entries()) {
      for (const other of [undefined, ...names.slice(position + 1, position + 2)]) {
        // Each value by itself, and one of each filter with the next: all pairs are compared by unit tests of the
        // query, and of what chooses among listed rows.
        const values = filters[one] ?? [];
        for (const [value, matches] of other === undefined ? values : values.slice(0, 1)) {
          for (const [otherValue, otherMatches] of filters[other ?? '']?.slice(-1) ?? [
            ['', () => true] as const,
          ]) {
            const query = new URLSearchParams({ limit: '40', event_kind: 'purchase' });
            for (const [name, text] of [[one, value] as const, [other, otherValue] as const])
              if (name !== undefined)
                query.set(name, name === 'endpoint_id' ? (endpoints[Number(text)] ?? '') : text);
            const expected = all.filter((delivery) => matches(delivery) && otherMatches(delivery));
            const rows = await readAll(client, `/v18.0/deliveries?${query}`);
            assert.deepEqual(ids(rows), ids(expected), `deliveries?${query}`);
            query.set('kind', 'purchase');
            query.delete('event_kind');
            const events = [...new Set(expected.map(({ event_id }) => event_id))].sort();
            assert.deepEqual(ids(await readAll(client, `/v18.0/events?${query}`)), events, `events?${query}`);
            compared += 1;
          }
        }
      }
    }
    assert.ok(compared >= 16, `${compared} queries`);
  });

  it('have no rows where filters exclude each other, and refuse what they do not know', async () => {
    for (const query of [
      'open=true&status=delivered',
      'error_code=timeout&status_code=500',
      'status_code=204&open=true',
    ])
      assert.deepEqual(await readAll(client, `/v18.0/deliveries?${query}`), []);
    for (const [query, detail] of [
      ['status=delivered,broken', /status must be one or more of: delivering/],
      ['status=', /status must be one or more of/],
      ['open=yes', /open must be one of: true, false/],
      ['error_code=none', /error_code must be one of: timeout/],
      ['status_code=99', /status_code must be an HTTP status from 100 to 599/],
    ] as const) {
      for (const list of ['events', 'deliveries']) {
        const answer = await client.request('GET', `/v18.0/${list}?${query}`);
        assert.equal(answer.status, 400);
        assert.match(answer.json.detail, detail);
      }
    }
  });

  it('show nothing of another account to a cursor that names a place in its list, and refuse what is no cursor [world]', async () => {
    const other = await system.account();
    const secret = await system.database.installationSecrets.get(CURSOR_SECRET);
    const encode = (parts: unknown[]) => Buffer.from(JSON.stringify(parts)).toString('base64url');
    /** As the API seals it for a list of an account. */
    const sealed = (list: string, parts: unknown[], { accountId } = client) =>
      sealCursor(secret, cursorPlace(list.split('?')[0] ?? '', accountId), encode(parts));
    const [{ id, created_at } = assert.fail()] = all;
    const place = cursorPlace('events', client.accountId);
    for (const forged of ['', 'x', group, '{}']) {
      const answer = await client.request('GET', `/v18.0/events?after=${sealCursor(secret, place, forged)}`);
      assert.equal(answer.status, 400, forged);
    }
    for (const list of ['deliveries', 'deliveries?open=true', 'events?open=true']) {
      const path: string = `/v18.0/${list}${list.includes('?') ? '&' : '?'}limit=100`;
      // Before all that is open.
      const named = [`~9999-12-31T23:59:59.999Z ${id}`];
      const theirs = await other.request('GET', `${path}&after=${sealed(list, named, other)}`);
      assert.deepEqual(theirs.json.data, []);
      const own = sealed(list, named);
      const ours = await client.request('GET', `${path}&after=${own}`);
      assert.equal(ours.status, 200);
      assert.ok(ours.json.data.length > 0, 'nothing follows');
      const elsewhere = sealed(list.startsWith('events') ? 'deliveries' : 'events', named);
      for (const forged of [encode(named), `x${own}`, `${own}x`, own.slice(1), elsewhere, 'x']) {
        const answer = await client.request('GET', `${path}&after=${forged}`);
        assert.deepEqual([answer.status, answer.json.errors[0].parameter], [400, 'after'], forged);
      }
      assert.equal((await other.request('GET', `${path}&after=${own}`)).status, 400);
      for (const parts of [
        [],
        [id],
        [1],
        [null],
        [{ $gt: '' }],
        [created_at],
        [`${created_at} ${id}\u0000`],
        [named[0], named[0]],
      ]) {
        const answer = await client.request('GET', `${path}&after=${sealed(list, parts)}`);
        assert.equal(answer.status, 400, JSON.stringify(parts));
      }
    }
  });

  it('go on where they were while events arrive [world]', async () => {
    const before = await readAll(client, '/v18.0/events?limit=100');
    const arrivals: Promise<unknown>[] = [];
    const post = () => void arrivals.push(client.purchase(purchase(`arrival-${arrivals.length}`)));
    try {
      const seen = await readAll(client, '/v18.0/events?limit=2', post);
      const deliveries = await readAll(client, '/v18.0/deliveries?limit=7', post);
      assert.ok(arrivals.length > 10, `${arrivals.length} arrived`);
      for (const [rows, expected] of [
        [seen, before],
        [deliveries, all],
      ] as const) {
        const wanted = new Set(ids(expected));
        assert.deepEqual(ids(rows.filter(({ id }) => wanted.has(id))), ids(expected));
      }
    } finally {
      await Promise.all(arrivals);
    }
  });
});
