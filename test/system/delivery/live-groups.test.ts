import assert from 'node:assert/strict';
import { pino } from 'pino';
import { startService } from '../../../src/bin/service.js';
import type { TimelineItem } from '../../../src/domain/explain/timeline.js';
import { groupWorkflowId } from '../../../src/domain/ledger/workflow-ids.js';
import type { Delivery, DeliverySummary } from '../../../src/domain/view/delivery-view.js';
import { type ApiClient, apiClient } from '../../support/api-client.js';
import { type Receiver, reply, startReceiver } from '../../support/receiver.js';
import { type SharedSystem, sharedSystem, startSystem, UNHURRIED } from '../../support/system.js';
import { until } from '../../support/until.js';

/** With more endpoints than are started one by one, the deliveries of an event are one group. */
const ENDPOINTS = 12;
const FAILING = ['/3', '/7', '/8'];
/** Nothing is attempted again while the tests look at what waits. */
const RETRIES = { retry_schedule: ['1h', '1h'] };

describe('a group of deliveries', () => {
  let system: SharedSystem;
  let receiver: Receiver;

  before(async () => {
    system = await sharedSystem(UNHURRIED);
    receiver = await startReceiver();
  });
  beforeEach(() => failAt(FAILING));
  after(() => receiver.close());

  function failAt(paths: readonly string[], status = 503): void {
    receiver.handle((request, ...rest) =>
      reply(paths.includes(request.url ?? '') ? status : 200)(request, ...rest),
    );
  }

  const list = async (client: ApiClient, query: string): Promise<DeliverySummary[]> =>
    (await client.request('GET', `/v18.0/deliveries?limit=100&${query}`)).json.data;

  /** One event to twelve endpoints, three of which fail; once the group waits. */
  async function start(
    client: ApiClient,
  ): Promise<{ eventId: string; groupId: string; all: DeliverySummary[] }> {
    for (let index = 0; index < ENDPOINTS; index++)
      await client.register(`${receiver.url}/${index}`, RETRIES);
    const event = await client.purchase();
    const all = await until(
      () => list(client, `event_id=${event.id}`),
      (found) =>
        found.length === ENDPOINTS &&
        found.filter(({ status }) => status === 'retrying').length === FAILING.length &&
        found.filter(({ status }) => status === 'delivered').length === ENDPOINTS - FAILING.length,
    );
    return { eventId: event.id, groupId: groupWorkflowId(`${event.id}:0`), all };
  }

  /** One such group, of which each test leaves what the next ones need. */
  let started: Promise<Awaited<ReturnType<typeof start>> & { client: ApiClient }> | undefined;
  const theGroup = () => {
    started ??= system.account().then(async (client) => ({ client, ...(await start(client)) }));
    return started;
  };

  const act = (client: ApiClient, { id }: { id: string }, action: string) =>
    client.request('POST', `/v18.0/deliveries/${id}/${action}`);

  /** Statuses of the attempts, in their order. */
  const statuses = ({ attempts }: Delivery) => attempts.map(({ status_code }) => status_code);

  it('keeps deliveries that did not succeed, and is read as its deliveries: by status, each with its attempts, its reason and its next attempt [world]', async () => {
    const { client, eventId, groupId, all } = await theGroup();
    assert.deepEqual([...new Set(all.map(({ workflow_id }) => workflow_id))], [groupId]);
    const { count } = await system.temporal.client.workflow.count(
      `HooklineEvent = '${eventId}' AND WorkflowType = 'deliver' AND WorkflowId STARTS_WITH 'dlv_'`,
    );
    assert.equal(count, 0, 'none has an execution of its own');
    for (const status of [
      'delivering',
      'retrying',
      'parked',
      'delivered',
      'exhausted',
      'expired',
      'cancelled',
    ]) {
      const found = await list(client, `event_id=${eventId}&status=${status}`);
      const expected = all.filter((one) => one.status === status);
      assert.deepEqual(found.map(({ id }) => id).sort(), expected.map(({ id }) => id).sort(), status);
    }
    for (const listed of all) {
      const delivery = await client.delivery(listed.id);
      assert.equal(delivery.status, listed.status);
      if (listed.status === 'delivered') {
        assert.deepEqual(statuses(delivery), [200]);
        assert.ok(delivery.closed_at);
        continue;
      }
      assert.deepEqual(statuses(delivery), [503]);
      assert.equal(delivery.closed_at, undefined);
      assert.equal(delivery.next_attempt_at, listed.next_attempt_at);
      assert.equal(
        delivery.reason,
        `Attempt 1 got a 503 response. Next attempt at ${delivery.next_attempt_at}.`,
      );
      const wait = Date.parse(delivery.next_attempt_at ?? '') - Date.parse(delivery.attempts[0]?.at ?? '');
      assert.ok(wait >= 3_600_000 && wait <= 3_600_000 * 1.1 + 60_000, `${wait} ms`);
    }
  });

  it('refuses what a delivery’s state does not allow, and keeps it', async () => {
    const { client, groupId, all } = await theGroup();
    const waiting = all.find(({ status }) => status === 'retrying');
    const delivered = all.find(({ status }) => status === 'delivered');
    assert.ok(waiting && delivered);
    const resume = await act(client, waiting, 'resume');
    assert.equal(resume.status, 409);
    assert.match(resume.text, /the delivery is not paused/);
    assert.equal((await client.delivery(waiting.id)).workflow_id, groupId);
    assert.equal((await act(client, delivered, 'cancel')).status, 409);
    assert.equal((await act(client, waiting, 'resend')).status, 409);
    const other = await system.account();
    assert.equal((await act(other, waiting, 'cancel')).status, 404);
  });

  it('has its deliveries acted upon where they are, while the others wait on', async () => {
    const { client, eventId, groupId, all } = await theGroup();
    const [retried, paused, cancelled] = all.filter(({ status }) => status === 'retrying');
    assert.ok(retried && paused && cancelled);
    failAt([]);
    assert.equal((await act(client, retried, 'retry')).status, 200);
    const delivered = await client.deliveryUntil(retried.id, ({ status }) => status === 'delivered');
    assert.deepEqual(statuses(delivered), [503, 200]);
    assert.deepEqual(
      delivered.attempts.map(({ number, trigger }) => [number, trigger]),
      [
        [1, 'schedule'],
        [2, 'manual'],
      ],
    );
    assert.equal(delivered.created_at, retried.created_at);
    assert.equal(delivered.workflow_id, groupId);

    assert.equal((await act(client, paused, 'pause')).status, 200);
    const parked = await client.delivery(paused.id);
    assert.equal(parked.status, 'parked');
    assert.deepEqual(statuses(parked), [503]);
    assert.equal((await act(client, paused, 'resume')).status, 200);
    const resumed = await client.delivery(paused.id);
    assert.equal(resumed.next_attempt_at, paused.next_attempt_at);
    assert.deepEqual(
      resumed.interventions?.map(({ action }) => action),
      ['pause', 'resume'],
    );

    assert.equal((await act(client, cancelled, 'cancel')).status, 200);
    await client.deliveryUntil(cancelled.id, ({ status }) => status === 'cancelled');
    const listed = await until(
      () => list(client, `event_id=${eventId}`),
      (found) =>
        found.length === ENDPOINTS &&
        found.filter(({ status }) => status === 'delivered').length === 10 &&
        found.some(({ status }) => status === 'cancelled'),
    );
    assert.deepEqual(
      listed
        .filter(({ status }) => status !== 'delivered')
        .map(({ id, status }) => [id, status])
        .sort(),
      [
        [paused.id, 'retrying'],
        [cancelled.id, 'cancelled'],
      ].sort(),
    );
  });

  it('resends a delivery that closed while others of the group wait', async () => {
    const { client, eventId, groupId, all } = await theGroup();
    const delivered = all.find(({ status }) => status === 'delivered');
    assert.ok(delivered);
    assert.equal((await act(client, delivered, 'resend')).status, 202);
    const again = await client.deliveryUntil(
      delivered.id,
      ({ status, workflow_id }) => status === 'delivered' && workflow_id !== groupId,
    );
    assert.equal(again.earlier_runs?.length, 1);
    assert.equal(again.earlier_runs?.[0]?.status, 'delivered');
    assert.deepEqual(
      again.earlier_runs?.[0]?.attempts.map(({ status_code }) => status_code),
      [200],
    );
    const listed = await until(
      () => list(client, `event_id=${eventId}`),
      (found) => found.some(({ workflow_id }) => workflow_id !== groupId),
    );
    assert.equal(listed.length, ENDPOINTS);
  });

  it('releases what waits for an endpoint that takes deliveries again, by one signal [world]', async () => {
    const client = await system.account();
    const [endpoint, ...others] = await Promise.all(
      Array.from({ length: ENDPOINTS }, (_, index) =>
        client.register(`${receiver.url}/${index}`, index === 0 ? { ...RETRIES, status: 'paused' } : RETRIES),
      ),
    );
    failAt([]);
    const event = await client.purchase();
    const [parked] = await until(
      () => list(client, `event_id=${event.id}&status=parked`),
      ({ length }) => length === 1,
    );
    assert.equal(parked?.endpoint_id, endpoint?.id);
    assert.equal(parked?.reason, 'The endpoint is paused.');
    await until(
      () => list(client, `event_id=${event.id}&status=delivered`),
      ({ length }) => length === others.length,
    );
    const body = { target_url: `${receiver.url}/0`, event_kinds: ['purchase'] };
    await client.request('PUT', `/v18.0/endpoints/${endpoint?.id}`, { body });
    const delivery = await client.deliveryUntil(parked?.id ?? '', ({ status }) => status === 'delivered');
    assert.deepEqual(
      delivery.attempts.map(({ number, trigger }) => [number, trigger]),
      [[1, 'released']],
    );
    const history = await system.temporal.client.workflow
      .getHandle(groupWorkflowId(`${event.id}:0`))
      .fetchHistory();
    const signals = history.events?.filter((one) => one.workflowExecutionSignaledEventAttributes);
    // A release looks again after some seconds.
    assert.ok([1, 2].includes(signals?.length ?? 0));
  });

  it('is read while no worker runs [world]', async () => {
    const own = await startSystem(UNHURRIED);
    const client = await own.account();
    const { eventId, all } = await start(client);
    await own.stop();
    const service = await startService(own.settings, 'api', pino({ level: 'silent' }));
    try {
      const reader = apiClient(service.url ?? '', client);
      for (const { id, status, next_attempt_at } of all) {
        const delivery = await reader.delivery(id);
        assert.equal(delivery.status, status);
        assert.equal(delivery.next_attempt_at, next_attempt_at);
        assert.deepEqual(statuses(delivery), [status === 'retrying' ? 503 : 200]);
        const timeline = await reader.request('GET', `/v18.0/deliveries/${id}/timeline`);
        const last = timeline.json.data.findLast(({ type }: TimelineItem) => type !== 'incident');
        assert.equal(last.status ?? last.type, status === 'retrying' ? 'wait' : 'delivered');
      }
      const listed = await list(reader, `event_id=${eventId}&status=retrying`);
      assert.equal(listed.length, FAILING.length);
    } finally {
      await service.stop();
    }
  });
});
