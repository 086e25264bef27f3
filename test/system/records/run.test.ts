import assert from 'node:assert/strict';
import { Client, type ScheduleClientInterceptor } from '@temporalio/client';
import { registerDirectly } from '../../../bench/support/endpoints.js';
import { leafHash } from '../../../packages/tlog/src/index.js';
import { migrate } from '../../../src/bin/migrate.js';
import { loadSettings } from '../../../src/config/load.js';
import { deliveryId } from '../../../src/domain/basics/delivery-id.js';
import { MAX_EVENT_GROUP_SIZE } from '../../../src/domain/delivery/delivery.js';
import { groupWorkflowId, recordScheduleId } from '../../../src/domain/ledger/workflow-ids.js';
import type { DeliverySummary } from '../../../src/domain/view/delivery-view.js';
import { connectTemporal } from '../../../src/temporal/server/connection.js';
import { prepareRecordSchedule } from '../../../src/temporal/write/record-schedule.js';
import type { ApiClient } from '../../support/api-client.js';
import { executionOf, untilAtRest } from '../../support/history.js';
import { startFreezingProxy } from '../../support/outside/freezing-proxy.js';
import { readAll } from '../../support/parts/pages.js';
import { recorded, runRecords, startRecords } from '../../support/parts/records.js';
import { startGroup } from '../../support/parts/start-group.js';
import { startServiceProcess } from '../../support/programs/process.js';
import { type Receiver, reply, startReceiver } from '../../support/receiver.js';
import { servers, temporalOfRun } from '../../support/servers.js';
import { newAccount, startSystem, type TestSystem, testEnvironment } from '../../support/system.js';
import { until } from '../../support/until.js';

/** Deliveries of one event to so many endpoints are a group. */
const IN_GROUP = 12;
/** Most bytes and events of history of the largest group of an event, one delivery of which waits. */
const MOST = { bytes: 32 * 1024, events: 40 };

describe('a run that keeps records', () => {
  let system: TestSystem;
  let receiver: Receiver;
  let client: ApiClient;

  before(async () => {
    system = await startSystem({ HOOKLINE_RETRY_SCHEDULE: '1h', HOOKLINE_PAYLOAD_DAYS: '30,purchase=1' });
    receiver = await startReceiver();
  });
  after(async () => {
    await receiver.close();
    await system.stop();
  });
  beforeEach(async () => {
    client = await system.account();
  });

  it('tells the account what has ended without success: together, once, and nothing of what tells it [world]', async () => {
    const watcher = await startReceiver();
    try {
      // It fails itself, so that what tells of the others ends without success as well.
      watcher.handle(reply(500));
      await client.register(watcher.url, {
        event_kinds: ['delivery.exhausted', 'delivery.expired'],
        filter: { path: '/count', at_least: 1 },
        retry_schedule: [],
      });
      const failing = await startReceiver({ handler: reply(500) });
      const { id: endpoint_id } = await client.register(failing.url, { retry_schedule: [] });
      const posted = [await client.purchase(), await client.purchase()];
      const ids = posted.flatMap(({ deliveries }) => deliveries.map(({ id }) => id));
      for (const id of ids) await client.deliveryUntil(id, ({ status }) => status === 'exhausted');
      await failing.close();
      await recorded(system, client, ids);
      const told = () => watcher.received.map(({ body }) => JSON.parse(body.toString()));
      const named = () =>
        told().flatMap(({ deliveries }) => deliveries.map((one: { delivery_id: string }) => one.delivery_id));
      await until(
        async () => named(),
        (found) => found.length === ids.length,
      );
      assert.deepEqual(named().sort(), [...ids].sort());
      for (const one of told()) {
        assert.deepEqual([one.endpoint_id, one.event_kinds], [endpoint_id, ['purchase']]);
        assert.equal(one.count, one.deliveries.length);
      }
      // The event that told of them has ended in the same way by now.
      const kinds = async () =>
        (await client.request('GET', '/v18.0/deliveries?event_kind=delivery.exhausted&status=exhausted')).json
          .data;
      const [about] = await until(kinds, (found) => found.length > 0);
      await recorded(system, client, [about.id]);
      assert.equal(await system.database.ends.next(), undefined);
      assert.equal(named().length, ids.length);
    } finally {
      await watcher.close();
    }
  });

  it('tells no end again that an attempt which has failed notes when it was told', async () => {
    const { ends } = system.database;
    const end = {
      account_id: client.accountId,
      endpoint_id: 'ep_1',
      kind: 'delivery.exhausted',
      delivery_id: 'dlv_1',
      event_id: 'evt_1',
      event_kind: 'purchase',
      closed_at: new Date(),
      run_id: 'run_1',
    } as const;
    await ends.note([end]);
    const notice = await ends.next();
    assert.ok(notice);
    assert.deepEqual(
      notice.ends.map(({ delivery_id }) => delivery_id),
      ['dlv_1'],
    );
    assert.equal((await ends.next())?.name, notice.name);
    await ends.told(notice);
    await ends.note([end]);
    assert.equal(await ends.next(), undefined);
  });

  it('is completed by another process if its own is killed in the middle [world]', async () => {
    const environment = { ...system.environment };
    await system.stop();
    const first = await startServiceProcess(environment);
    const settings = loadSettings(environment);
    const other = await startSystem(environment, 'api');
    try {
      const by = await newAccount(other.database, first.url);
      const endpoint = await by.register(receiver.url);
      const groups = await Promise.all(
        Array.from({ length: 20 }, (_, group) =>
          startGroup(
            other,
            by,
            endpoint.id,
            Array.from({ length: 10 }, (_, n) => Date.now() - group * 10 - n),
          ),
        ),
      );
      const ids = groups.flatMap(({ events }) =>
        events.map(({ event_id }) => deliveryId({ event_id, endpoint_id: endpoint.id })),
      );
      const records = () => Promise.all(ids.map((id) => other.database.records.record(by.accountId, id)));
      await until(records, (found) => found.every(Boolean));
      const run = await startRecords({ temporal: other.temporal, settings });
      // It is killed between taking some records into the log and its checkpoint, or soon after.
      await until(
        () => other.database.log.size(),
        (size) => size > 0,
      );
      await first.kill();
      system = await startSystem(environment);
      await run.result();
      const found = await until(records, (all) => all.every((one) => one?.leafIndex !== undefined));
      const { log } = other.database;
      const leaves = (await log.leavesFrom(0)).map((leaf) => leaf.toString('hex'));
      for (const one of found)
        assert.equal(leaves.filter((leaf) => leaf === leafHash(one?.text ?? '').toString('hex')).length, 1);
      // What the log has is left as it is.
      const size = await log.size();
      await runRecords(system);
      assert.equal(await log.size(), size);
    } finally {
      await other.stop();
    }
  });

  it('has the log take what has closed in a group that goes on [world]', async () => {
    receiver.handle((request, ...rest) => reply(request.url === '/slow' ? 500 : 200)(request, ...rest));
    for (let n = 1; n < IN_GROUP; n++) await client.register(`${receiver.url}/good/${n}`);
    const bad = await client.register(`${receiver.url}/slow`);
    const event = await client.purchase();
    const endpoint_ids = (
      await client.request('GET', `/v18.0/deliveries?event_id=${event.id}`)
    ).json.data.map((one: DeliverySummary) => one.endpoint_id);
    const [good_id = ''] = endpoint_ids.filter((id: string) => id !== bad.id);
    const id = deliveryId({ event_id: event.id, endpoint_id: good_id });
    const open = deliveryId({ event_id: event.id, endpoint_id: bad.id });
    await client.deliveryUntil(open, ({ status }) => status === 'retrying');
    const before = await client.deliveryUntil(id, ({ status }) => status === 'delivered');
    await recorded(system, client, [id]);
    assert.equal(await system.database.records.record(client.accountId, open), undefined);
    assert.deepEqual(await client.delivery(id), before);
  });

  it('has the log take 119 of 120 deliveries while the last one waits for days, and then that one [world]', async () => {
    receiver.handle((request, ...rest) => reply(request.url === '/slow' ? 500 : 200)(request, ...rest));
    const urls = Array.from({ length: MAX_EVENT_GROUP_SIZE - 1 }, (_, n) => `${receiver.url}/good/${n}`);
    await registerDirectly(system.database.endpoints, client.accountId, urls);
    const { id: endpoint_id } = await client.register(`${receiver.url}/slow`, { retry_schedule: ['3d'] });
    const { id: event_id } = await client.purchase();
    const delivered = async () =>
      (await readAll(client, `/v18.0/deliveries?limit=100&status=delivered&event_id=${event_id}`)).map(
        ({ id }) => id,
      );
    const good = await until(delivered, ({ length }) => length === urls.length);
    const slow = deliveryId({ event_id, endpoint_id });
    const { workflow_id } = await client.deliveryUntil(slow, ({ status }) => status === 'retrying');
    assert.equal(workflow_id, groupWorkflowId(`${event_id}:0+${MAX_EVENT_GROUP_SIZE}`));
    await recorded(system, client, good);
    const certificate = async (id: string) =>
      (await client.request('GET', `/v18.0/deliveries/${id}/certificate`)).status;
    for (const id of good) assert.equal(await certificate(id), 200);
    assert.equal(await certificate(slow), 404);
    const [resent = ''] = good;
    assert.equal((await client.request('POST', `/v18.0/deliveries/${resent}/resend`)).status, 202);
    const again = await client.deliveryUntil(
      resent,
      ({ status, earlier_runs }) => status === 'delivered' && earlier_runs?.length === 1,
    );
    assert.notEqual(again.workflow_id, workflow_id);

    receiver.handle(reply(200));
    await untilAtRest(system, workflow_id);
    const retried = await client.request('POST', `/v18.0/deliveries/${slow}/retry`);
    assert.equal(retried.status, 200, retried.text);
    await client.deliveryUntil(slow, ({ status }) => status === 'delivered');
    const group = await executionOf(system, workflow_id);
    assert.deepEqual(await group.result(), { delivered: MAX_EVENT_GROUP_SIZE });
    await recorded(system, client, [slow, resent]);
    assert.equal(await certificate(slow), 200);
    assert.deepEqual((await delivered()).sort(), [...good, slow].sort());
    const { historySize = 0, historyLength } = await group.describe();
    assert.ok(historySize > 0 && historySize < MOST.bytes, `${historySize} bytes`);
    assert.ok(historyLength < MOST.events, `${historyLength} events`);
  });

  it('removes payloads that are past their time, and leaves the record [world]', async () => {
    const endpoint = await client.register(receiver.url);
    const twoDaysAgo = Date.now() - 2 * 24 * 3_600_000;
    const { events } = await startGroup(system, client, endpoint.id, [twoDaysAgo, Date.now()]);
    const [old = '', young = ''] = events.map(({ event_id }) => event_id);
    const id = deliveryId({ event_id: old, endpoint_id: endpoint.id });
    await recorded(system, client, [id, deliveryId({ event_id: young, endpoint_id: endpoint.id })]);
    const { records } = system.database;
    await until(
      async () => {
        await runRecords(system);
        return records.storedPayload(client.accountId, old);
      },
      (payload) => payload === undefined,
    );
    assert.ok(await records.storedPayload(client.accountId, young));
    const record = JSON.parse((await records.record(client.accountId, id))?.text ?? '{}');
    assert.equal(record.status, 'delivered');
    assert.match(record.payload_commitment, /^[\da-f]{64}$/);
  });

  it('is started by a Schedule that `hookline migrate` makes, changes and removes [world]', async () => {
    const environment = await testEnvironment();
    const scheduleId = recordScheduleId(environment['HOOKLINE_TASK_QUEUE'] ?? '');
    const schedule = system.temporal.client.schedule.getHandle(scheduleId);
    const prepare = (interval: string) =>
      migrate(loadSettings({ ...environment, HOOKLINE_LOG_INTERVAL: interval }), () => {});
    for (const [interval, every] of [
      ['1h', 3_600_000],
      ['1h', 3_600_000],
      ['2h', 7_200_000],
    ] as const) {
      await prepare(interval);
      const { spec, policies, action } = await schedule.describe();
      assert.deepEqual(
        spec.intervals?.map((one) => one.every),
        [every],
      );
      assert.equal(policies.overlap, 'SKIP');
      assert.deepEqual(action.args, [{}]);
    }
    await prepare('off');
    await assert.rejects(schedule.describe(), { name: 'ScheduleNotFoundError' });
  });

  it('has its Schedule though Temporal does not answer the first call in time [world]', async () => {
    const { temporalAddress, namespace } = servers();
    const proxy = await startFreezingProxy(temporalAddress);
    const temporal = await connectTemporal({ ...temporalOfRun(), address: proxy.address });
    let calls = 0;
    const counted: ScheduleClientInterceptor = {
      create(input, next) {
        calls += 1;
        return next(input);
      },
    };
    const { connection, dataConverter } = temporal.client.options;
    const client = new Client({
      connection,
      namespace,
      dataConverter,
      interceptors: { schedule: [counted] },
    });
    const options = { client, taskQueue: `frozen-${Date.now()}` };
    proxy.freeze();
    const prepared = prepareRecordSchedule({ ...options, intervalMs: 3_600_000 });
    await until(
      () => calls,
      (count) => count === 2,
    );
    proxy.thaw();
    await prepared;
    const { spec } = await client.schedule.getHandle(recordScheduleId(options.taskQueue)).describe();
    assert.equal(spec.intervals?.[0]?.every, 3_600_000);
    await prepareRecordSchedule({ ...options, intervalMs: undefined });
    await temporal.close();
    await proxy.close();
  });
});
