import assert from 'node:assert/strict';
import type { Attempt } from '../../../src/domain/attempt/attempt.js';
import { newId } from '../../../src/domain/basics/ids.js';
import { isClosed } from '../../../src/domain/delivery/delivery.js';
import type { LiveGroup } from '../../../src/domain/delivery/delivery-group.js';
import { groupWorkflowId } from '../../../src/domain/ledger/workflow-ids.js';
import type { DeliverySummary } from '../../../src/domain/view/delivery-view.js';
import { BacklogReader } from '../../../src/temporal/read/backlog/backlog-reader.js';
import { type ApiClient, PURCHASE } from '../../support/api-client.js';
import { readAll } from '../../support/parts/pages.js';
import { startGroup } from '../../support/parts/start-group.js';
import { type Receiver, reply, startReceiver } from '../../support/receiver.js';
import { type SharedSystem, sharedSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

type Row = DeliverySummary;

const EVENTS = 25;
/** Few events go to endpoints that fail, so that their incidents hold none of them back. */
const SMALL_EVENTS = 4;
const SMALL = { filter: { path: '/total', less_than: 100 } };
const purchaseOf = (total: number) => JSON.stringify({ ...JSON.parse(PURCHASE), total });

describe('GET /stats', () => {
  let system: SharedSystem;
  let client: ApiClient;
  let other: ApiClient;
  const receivers: Receiver[] = [];
  let endpoints: { good: string; failing: string; exhausted: string; paused: string };
  let all: Row[];

  const stats = async (query = '', by = client) => {
    const { status, json, text } = await by.request('GET', `/v18.0/stats${query}`);
    assert.equal(status, 200, text);
    return json;
  };
  /** How many deliveries have each value. */
  const countBy = (rows: readonly Row[], keyOf: (row: Row) => string): Record<string, number> => {
    const counts: Record<string, number> = {};
    for (const row of rows) counts[keyOf(row)] = (counts[keyOf(row)] ?? 0) + 1;
    return counts;
  };
  const given = (counts: Record<string, number>) =>
    Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0));

  before(async () => {
    system = await sharedSystem();
    client = await system.account();
    other = await system.account();
    const register = async (status: number, more: Record<string, unknown> = {}): Promise<string> => {
      const receiver = await startReceiver({ handler: reply(status) });
      receivers.push(receiver);
      return (await client.register(receiver.url, more)).id;
    };
    endpoints = {
      good: await register(200),
      failing: await register(500, SMALL),
      exhausted: await register(503, { ...SMALL, retry_schedule: ['100ms'] }),
      paused: await register(200),
    };
    await client.request('POST', `/v18.0/endpoints/${endpoints.paused}/pause`);
    const good = receivers[0];
    assert.ok(good);
    await other.register(good.url);
    // Alone, and in groups that have deliveries of both accounts.
    await client.purchase(purchaseOf(1));
    await Promise.all(
      Array.from({ length: EVENTS - 1 }, (_, index) =>
        Promise.all([client.purchase(purchaseOf(index < SMALL_EVENTS - 1 ? 1 : 500)), other.purchase()]),
      ),
    );
    const settled = (rows: readonly Row[]) =>
      rows.length === EVENTS * 2 + SMALL_EVENTS * 2 &&
      rows.every(({ status }) => status !== 'delivering') &&
      rows.filter(({ status }) => status === 'exhausted').length === SMALL_EVENTS;
    const waiting = await until(() => readAll(client, '/v18.0/deliveries?limit=100'), settled);
    const some = waiting.filter(({ endpoint_id }) => endpoint_id === endpoints.failing).slice(0, 2);
    for (const { id } of some)
      await until(
        () => client.request('POST', `/v18.0/deliveries/${id}/cancel`),
        ({ status }) => status === 200,
      );
    all = await until(
      () => readAll(client, '/v18.0/deliveries?limit=100'),
      (rows) => settled(rows) && rows.filter(({ status }) => status === 'cancelled').length === some.length,
    );
  });
  after(async () => {
    for (const receiver of receivers) await receiver.close();
  });

  it('counts every open delivery as the list has it: by status, kind, endpoint and time', async () => {
    const open = all.filter(({ status }) => !isClosed(status));
    const oldest = open.map(({ created_at }) => created_at).sort()[0];
    const { open: counted, as_of } = await until(stats, (answer) => answer.open.deliveries === open.length);
    assert.ok(Date.parse(as_of) <= Date.now());
    assert.equal(counted.exact, true);
    assert.equal(counted.overdue, 0);
    assert.equal(counted.oldest_created_at, oldest);
    assert.deepEqual(
      given(counted.by_status),
      countBy(open, ({ status }) => status),
    );
    const byEndpoint = new Map<string, { deliveries: number; by_status: Record<string, number> }>(
      counted.by_endpoint.map((row: { endpoint_id: string }) => [row.endpoint_id, row]),
    );
    for (const endpoint of Object.values(endpoints)) {
      const rows = open.filter(({ endpoint_id }) => endpoint_id === endpoint);
      assert.deepEqual(
        given(byEndpoint.get(endpoint)?.by_status ?? {}),
        countBy(rows, ({ status }) => status),
      );
      const { open: alone } = await stats(`?endpoint_id=${endpoint}`);
      assert.equal(alone.deliveries, rows.length);
      assert.deepEqual(
        given(alone.by_status),
        countBy(rows, ({ status }) => status),
      );
    }
    assert.deepEqual(
      counted.by_kind.map((row: { event_kind: string; deliveries: number }) => [
        row.event_kind,
        row.deliveries,
      ]),
      [['purchase', open.length]],
    );
    const times = counted.by_time.map((row: { deliveries: number }) => row.deliveries);
    assert.equal(
      times.reduce((sum: number, count: number) => sum + count, 0),
      open.length,
    );
    assert.equal((await stats('?event_kind=account.created')).open.deliveries, 0);
  });

  it('counts what was closed as the list has it, with the attempts it took', async () => {
    const closed = all.filter(({ status }) => isClosed(status));
    for (const interval of ['5m', '1h', '1d']) {
      const { closed: counted } = await until(
        () => stats(`?interval=${interval}`),
        (answer) => answer.closed.deliveries >= closed.length,
      );
      assert.equal(counted.exact, false);
      assert.deepEqual(
        given(counted.by_status),
        countBy(closed, ({ status }) => status),
      );
      assert.deepEqual(
        Object.fromEntries(
          counted.by_endpoint.map((row: { endpoint_id: string; deliveries: number }) => [
            row.endpoint_id,
            row.deliveries,
          ]),
        ),
        countBy(closed, ({ endpoint_id }) => endpoint_id),
      );
      assert.deepEqual(
        counted.by_kind.map((row: { event_kind: string; deliveries: number }) => [
          row.event_kind,
          row.deliveries,
        ]),
        [['purchase', closed.length]],
      );
      // Delivered at the first attempt; exhausted at the second; cancelled after the first.
      assert.equal(counted.attempts, EVENTS + 2 * SMALL_EVENTS + 2);
      const times = counted.by_time.map((row: { deliveries: number }) => row.deliveries);
      assert.equal(
        times.reduce((sum: number, count: number) => sum + count, 0),
        closed.length,
      );
    }
    const { closed: exhausted } = await stats(`?endpoint_id=${endpoints.exhausted}`);
    assert.deepEqual(given(exhausted.by_status), { exhausted: SMALL_EVENTS });
    const { closed: earlier } = await stats('?closed_after=2026-01-01&closed_before=2026-01-02');
    assert.equal(earlier.deliveries, 0);
    assert.deepEqual([earlier.from, earlier.to], ['2026-01-01T00:00:00.000Z', '2026-01-02T00:00:00.000Z']);
  });

  it('counts nothing of another account, in groups that both have deliveries in', async () => {
    const mine = await until(
      () => stats('', other),
      (answer) => answer.closed.deliveries >= EVENTS - 1,
    );
    assert.deepEqual(given(mine.closed.by_status), { delivered: EVENTS - 1 });
    assert.equal(mine.open.deliveries, 0);
    const theirs = await stats(`?endpoint_id=${endpoints.failing}`, other);
    assert.equal(theirs.open.deliveries, 0);
    assert.equal(theirs.closed.deliveries, 0);
    assert.deepEqual(theirs.open.by_endpoint, []);
    assert.deepEqual(theirs.closed.by_endpoint, []);
  });

  it('refuses periods that are empty or too long, and says what to change', async () => {
    for (const [query, detail] of [
      ['closed_after=2026-01-02&closed_before=2026-01-01', /earlier than closed_before/],
      ['closed_after=2026-01-01&closed_before=2026-03-01', /at most 31 days/],
      ['interval=5m&closed_after=2026-01-01&closed_before=2026-01-03', /at most 1 days/],
      ['interval=1w', /interval/],
      ['closed_after=yesterday', /closed_after/],
      ["endpoint_id=x'", /endpoint_id/],
    ] as const) {
      const { status, json } = await client.request('GET', `/v18.0/stats?${query}`);
      assert.equal(status, 400, query);
      assert.match(json.detail, detail);
    }
  });
});

describe('what is overdue', () => {
  let system: SharedSystem;
  before(async () => {
    // Without a worker no attempt begins.
    system = await sharedSystem({}, 'api');
  });

  it('is counted when it has been due for too long: alone and in groups, for all accounts and for one [world]', async () => {
    const client = await system.account();
    const other = await system.account();
    const receiver = await startReceiver();
    try {
      const { id } = await client.register(receiver.url);
      await client.purchase();
      await startGroup(system, client, id, [Date.now() - 5_000, Date.now()]);
      await startGroup(system, other, 'ep_00000000000000000000000000', [Date.now()]);
      const filter = { account_id: client.accountId };
      const reader = (graceMs: number) =>
        new BacklogReader(system.temporal.client, system.database.records.search, graceMs);
      const overdue = ({ deliveries, overdueBefore }: Awaited<ReturnType<BacklogReader['read']>>) =>
        deliveries.filter(({ dueAt = Number.POSITIVE_INFINITY }) => dueAt < overdueBefore);
      const open = await until(
        () => reader(0).read(filter),
        ({ deliveries }) => deliveries.length === 3,
      );
      assert.equal(overdue(open).length, 3);
      assert.ok(open.deliveries.every(({ status }) => status === 'delivering'));
      assert.equal(overdue(await reader(3_600_000).read(filter)).length, 0);
      const ofAll = await until(
        () => reader(0).read({}),
        ({ deliveries }) => deliveries.some(({ endpoint_id }) => endpoint_id.startsWith('ep_00')),
      );
      assert.ok(overdue(ofAll).length >= 4);
      const answer = await client.request('GET', '/v18.0/stats');
      assert.equal(answer.json.open.deliveries, 3);
      assert.equal(answer.json.open.overdue, 0, 'these have been due for some moments only');
    } finally {
      await receiver.close();
    }
  });
});

describe('the tally of a group that goes on in another run', () => {
  let system: SharedSystem;
  before(async () => {
    system = await sharedSystem();
  });

  it('does not count again what an earlier run has counted', async () => {
    const client = await system.account();
    const receiver = await startReceiver();
    try {
      // Events without deliveries of their own, so that those of the group are theirs.
      const accepted = await Promise.all([client.purchase(), client.purchase()]);
      const { id: endpoint_id } = await client.register(receiver.url);
      const at = new Date().toISOString();
      const events = accepted.map(({ id: event_id }) => ({
        account_id: client.accountId,
        event_id,
        event_kind: 'purchase',
        accepted_at: at,
      }));
      const failed: Attempt = { number: 1, at, duration_ms: 1, status_code: 500, trigger: 'schedule' };
      const group: LiveGroup = {
        events,
        deliveries: [0, 1].map((index) => ({ endpoint_id, event: index })),
        schedule: [60_000],
        attempt_timeout_ms: 5_000,
        park_limit_ms: 60_000,
        so_far: [
          {
            record: { status: 'exhausted', attempts: [failed], closed_at: at },
            state: { kind: 'closed' },
            failed: 1,
          },
          {
            record: { status: 'retrying', attempts: [failed], next_attempt_at: at },
            state: { kind: 'waiting', plan: { at: Date.parse(at), trigger: 'schedule' } },
            failed: 1,
          },
        ],
      };
      const workflowId = groupWorkflowId(newId('group'));
      const { workflow } = system.temporal.client;
      const taskQueue = system.settings.HOOKLINE_TASK_QUEUE;
      await workflow.execute('deliver', { workflowId, taskQueue, args: [group] });
      const { json } = await until(
        () => client.request('GET', '/v18.0/stats'),
        ({ json }) => json.closed.deliveries > 0,
      );
      assert.deepEqual(json.closed.by_status, { delivered: 1, exhausted: 0, expired: 0, cancelled: 0 });
      assert.equal(json.closed.attempts, 2);
    } finally {
      await receiver.close();
    }
  });
});
