import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { BACKOFF_AFTER_FAILURES } from '../../../src/domain/endpoint/breaker/circuit-breaker.js';
import { releaseWorkflowId } from '../../../src/domain/ledger/workflow-ids.js';
import type { RowSearch } from '../../../src/domain/records/row-search.js';
import { findOldest, listWaiting, sampleOutcomes } from '../../../src/temporal/write/parked-deliveries.js';
import { releaseBacklog } from '../../../src/temporal/write/release-backlog.js';
import type { ApiClient } from '../../support/api-client.js';
import { runRecords } from '../../support/parts/records.js';
import { type Receiver, reply, startReceiver } from '../../support/receiver.js';
import { ONE_BY_ONE, SHORT_WAITS, type SharedSystem, sharedSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

const COUNT = 30;
/** More than a release that stops has begun with. */
const MANY = 45;
/** Failures: most of those that a release looks at first, and not enough for an incident that has deliveries wait. */
const FEW = BACKOFF_AFTER_FAILURES - 1;

describe('the release of a backlog', () => {
  let system: SharedSystem;
  let receiver: Receiver;
  let client: ApiClient;
  let endpoint: string;
  let search: RowSearch;

  before(async () => {
    system = await sharedSystem({ ...SHORT_WAITS, ...ONE_BY_ONE });
    search = system.database.records.search;
  });
  beforeEach(async () => {
    client = await system.account();
    receiver = await startReceiver();
    endpoint = (await client.register(receiver.url, { status: 'paused' })).id;
  });
  afterEach(() => receiver.close());

  const parkedIds = async (): Promise<string[]> =>
    (await client.request('GET', '/v18.0/deliveries?status=parked&limit=100')).json.data.map(
      ({ id }: { id: string }) => id,
    );
  const parkedCount = async (): Promise<number> => (await parkedIds()).length;
  /** Deliveries that are parked, oldest first, once all of them are. */
  const park = async (count: number, inAll = count): Promise<string[]> => {
    const ids = [];
    for (let sent = 0; sent < count; sent += 1) ids.push((await client.purchase()).deliveries[0]?.id ?? '');
    await until(parkedCount, (count) => count === inAll);
    return ids;
  };
  /**
   * Replaces the endpoint by one that is active and has never been released: a release looks again some seconds later.
   */
  const neverReleased = async () => {
    await client.request('DELETE', `/v18.0/endpoints/${endpoint}`);
    endpoint = (await client.register(receiver.url)).id;
  };
  const act = async (action: 'pause' | 'resume') => {
    const answer = await client.request('POST', `/v18.0/endpoints/${endpoint}/${action}`);
    assert.equal(answer.status, 200, answer.text);
  };
  const releaseStatus = async () =>
    (
      await system.temporal.client.workflow
        .getHandle(releaseWorkflowId(client.accountId, endpoint))
        .describe()
    ).status.name;

  it('goes oldest first, in waves, and ends as Completed though it is asked for again [world]', async () => {
    const ids = await park(COUNT);
    await act('resume');
    await act('pause');
    await act('resume');
    const received = await receiver.waitFor((all) => all.length >= COUNT);
    const events = ids.map((id) => id.split('-')[0]);
    assert.ok(events.every((id) => id !== undefined));
    // Within a second several are under way at once: the first wave as a whole comes before the last deliveries.
    const order = received.map(({ headers }) => headers['webhook-id'] ?? '');
    const position = (index: number) => order.findIndex((event) => ids[index]?.includes(event.slice(4)));
    const first = Array.from({ length: 8 }, (_, index) => position(index));
    const last = Array.from({ length: 8 }, (_, index) => position(COUNT - 1 - index));
    assert.ok(first.every((at) => at >= 0) && last.every((at) => at >= 0));
    assert.ok(Math.max(...first) < Math.min(...last), `${first} before ${last}`);
    await until(releaseStatus, (status) => status === 'COMPLETED');
  });

  it('stops when the endpoint fails again, and what is left waits without an attempt [world]', async () => {
    const ids = await park(MANY);
    receiver.handle(reply(500));
    await act('resume');
    // On a busy machine fewer are released in the first second, and then one each 5 s until there are ten failures.
    await until(releaseStatus, (status) => status === 'COMPLETED');
    const left = new Set(await parkedIds());
    assert.ok(receiver.received.length < MANY, `${receiver.received.length} attempts`);
    const newest = await client.delivery(ids.at(-1) ?? '');
    assert.deepEqual([newest.status, newest.attempts.length], ['parked', 0]);
    assert.ok(left.size > 0);

    receiver.handle(reply(200));
    // It is asked again after 5, 10 and 20 s, and then once a minute.
    await until(parkedCount, (count) => count === 0, 120_000);
    const states = await Promise.all(ids.map((id) => client.delivery(id)));
    const undelivered = states.filter(({ status }) => status !== 'delivered');
    assert.ok(undelivered.length <= receiver.received.filter(({ answered }) => answered === 500).length);
  });

  it('stops at the first failures when somebody resumes an endpoint whose incident is still open [world]', async () => {
    await neverReleased();
    receiver.handle(reply(500));
    for (let failures = 0; failures < BACKOFF_AFTER_FAILURES; failures += 1) await client.purchase();
    await until(
      async () => (await client.request('GET', `/v18.0/endpoints/${endpoint}`)).json.incident,
      (incident) => incident?.next_probe_at !== undefined,
    );
    // Probes are made meanwhile.
    for (let sent = 0; sent < MANY; sent += 1) await client.purchase();
    const newest = (await client.purchase()).deliveries[0]?.id ?? '';
    await client.deliveryUntil(newest, ({ status }) => status === 'parked');
    await act('pause');
    await act('resume');
    await until(releaseStatus, (status) => status === 'COMPLETED');
    const { status, attempts } = await client.delivery(newest);
    assert.deepEqual([status, attempts.length], ['parked', 0]);
  });

  it('goes on slowly after failures that are too few for an incident to probe [world]', async () => {
    const count = 2 * FEW;
    await park(count);
    let answered = 0;
    receiver.handle((...exchange) => reply(answered++ < FEW ? 500 : 200)(...exchange));
    await act('resume');
    await until(parkedCount, (count) => count === 0);
    await receiver.waitFor((all) => new Set(all.map(({ headers }) => headers['webhook-id'])).size === count);
  });

  it('asks about the endpoint again soon, however much it has to give way to others [world]', async () => {
    await park(COUNT);
    const { workflow } = system.temporal.client;
    // Signals of a known duration, whatever this machine does: those of the first part are quick, so that later ones
    // are late.
    let signals = 0;
    const getHandle: typeof workflow.getHandle = (...named) => ({
      ...workflow.getHandle(...named),
      async signal() {
        signals += 1;
        if (signals > 3) await delay(400);
      },
    });
    const slow = { workflow: { getHandle } } as unknown as Client;
    const states = ['open', 'closed'] as const;
    let asked = 0;
    const { released, stopped } = await releaseBacklog(
      { client: slow, search, taskQueue: system.settings.HOOKLINE_TASK_QUEUE },
      { account_id: client.accountId, endpoint_id: endpoint },
      {
        firstRate: COUNT,
        maxRate: COUNT,
        retries: false,
        endpoint: async () => states[Math.min(asked++, 1)] ?? 'closed',
        onProgress: () => {},
      },
    );
    assert.ok(stopped);
    assert.equal(released, signals);
    assert.ok(released > 3 && released < COUNT, `${released} released`);
  });

  it('takes along what waits for a retry', async () => {
    await neverReleased();
    receiver.handle(reply(500));
    const waiting = (await client.purchase()).deliveries[0]?.id ?? '';
    await client.deliveryUntil(waiting, ({ status }) => status === 'retrying');
    await act('pause');
    await park(1);
    await until(
      async () => (await client.request('GET', '/v18.0/deliveries?status=retrying')).json.data,
      (all) => all.length === 1,
    );
    receiver.handle(reply(200));
    await act('resume');
    const { attempts } = await client.deliveryUntil(waiting, ({ status }) => status === 'delivered');
    assert.deepEqual(
      attempts.map(({ trigger }) => trigger),
      ['schedule', 'released'],
    );
  });

  it('finds the oldest delivery to probe with, whatever is paused before it [world]', async () => {
    const ids = await park(3);
    const key = { account_id: client.accountId, endpoint_id: endpoint };
    const oldest = async (status: 'parked' | 'retrying' = 'parked', of = key) =>
      (await findOldest(search, of, status, '', 1))?.id;
    assert.equal(await oldest(), ids[0]);
    assert.equal(await oldest('parked', { ...key, account_id: 'acct_other' }), undefined);
    assert.equal(await oldest('retrying'), undefined);
    for (const id of ids.slice(0, 2)) await client.request('POST', `/v18.0/deliveries/${id}/pause`);
    assert.equal(await oldest(), ids[2]);
    await client.request('POST', `/v18.0/deliveries/${ids[2]}/cancel`);
    assert.equal(await oldest(), undefined);
  });

  it('does not count what was terminated in Temporal as an answer that is slow', async () => {
    const [id] = await park(1);
    const key = { account_id: client.accountId, endpoint_id: endpoint };
    const waiting = await listWaiting(search, key, ['parked'], '', () => {});
    assert.deepEqual(
      waiting.map((one) => one.id),
      [id],
    );
    await system.temporal.client.workflow.getHandle(waiting[0]?.workflowId ?? '').terminate();
    await until(
      async () => {
        await runRecords(system);
        return (await client.delivery(id ?? '')).status;
      },
      (status) => status === 'terminated',
    );
    assert.deepEqual(await sampleOutcomes(search, waiting), { delivered: 0, failed: 0, undecided: 0 });
  });
});
