import assert from 'node:assert/strict';
import { deliveryId } from '../../../src/domain/basics/delivery-id.js';
import type { HeldBack } from '../../../src/domain/endpoint/breaker/circuit-breaker.js';
import { groupWorkflowId } from '../../../src/domain/ledger/workflow-ids.js';
import {
  listWaiting,
  type ReleaseUnit,
  release,
  toUnits,
} from '../../../src/temporal/write/parked-deliveries.js';
import type { ApiClient } from '../../support/api-client.js';
import { eventTypes, executionOf, fetchHistory } from '../../support/history.js';
import { listed } from '../../support/parts/replays.js';
import { startGroup } from '../../support/parts/start-group.js';
import { type Receiver, startReceiver } from '../../support/receiver.js';
import { type SharedSystem, sharedSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

const MEMBERS = 5;
const HOUR_MS = 3_600_000;

describe('a group that waits from its start', () => {
  let system: SharedSystem;
  let receiver: Receiver;
  let client: ApiClient;
  let endpoint_id: string;

  before(async () => {
    system = await sharedSystem();
  });
  beforeEach(async () => {
    receiver = await startReceiver();
    client = await system.account();
    endpoint_id = (await client.register(receiver.url)).id;
  });
  afterEach(() => receiver.close());

  /** Starts a group whose deliveries are held back for so long, milliseconds. */
  async function start(waitMs = HOUR_MS): Promise<{ workflowId: string; ids: string[] }> {
    const held: HeldBack = {
      kind: 'not_attempted',
      endpoint: 'failing',
      since: '12:00',
      look_again_ms: waitMs,
    };
    const now = Date.now();
    const times = Array.from({ length: MEMBERS }, (_, index) => now + index);
    const { groupId, events } = await startGroup(system, client, endpoint_id, times, undefined, held);
    const ids = events.map(({ event_id }) => deliveryId({ event_id, endpoint_id }));
    return { workflowId: groupWorkflowId(groupId), ids };
  }

  const act = (id: string, action: string) => client.request('POST', `/v18.0/deliveries/${id}/${action}`);
  const describeGroup = async (workflowId: string) => (await executionOf(system, workflowId)).describe();
  /** Deliveries that wait for the endpoint, as one signal releases them. */
  async function waiting(count = MEMBERS): Promise<ReleaseUnit> {
    const key = { account_id: client.accountId, endpoint_id };
    const taskQueue = system.settings.HOOKLINE_TASK_QUEUE;
    const [unit, ...others] = toUnits(
      await until(
        () => listWaiting(system.database.records.search, key, ['parked'], taskQueue, () => {}),
        ({ length }) => length === count,
      ),
    );
    assert.ok(unit && others.length === 0);
    return unit;
  }

  it('needs no workflow task, and is read like every delivery that waits', async () => {
    const { workflowId, ids } = await start();
    const parked = await listed(client, 'status=parked', MEMBERS);
    assert.deepEqual(parked.sort(), [...ids].sort());
    for (const { id, reason } of (await client.request('GET', '/v18.0/deliveries')).json.data) {
      assert.match(reason ?? '', /since 12:00/);
      const delivery = await client.delivery(id);
      assert.deepEqual([delivery.status, delivery.reason, delivery.attempts], ['parked', reason, []]);
    }
    const { json } = await client.request('GET', `/v18.0/deliveries/${ids[0]}/timeline`);
    assert.ok(
      json.data.some(({ text }: { text: string }) => text.includes('since 12:00')),
      JSON.stringify(json.data),
    );
    assert.deepEqual(eventTypes(await fetchHistory(system, workflowId)), ['WORKFLOW_EXECUTION_STARTED']);
    const details = await (await describeGroup(workflowId)).staticDetails();
    assert.match(details ?? '', /^At its start:\s+5 parked: .*since 12:00/);
    assert.equal(receiver.received.length, 0);
  });

  it('begins when some of it is released, and the others wait on', async () => {
    const { workflowId } = await start();
    const [first, second] = await waiting();
    assert.ok(first && second);
    await release(system.temporal.client, [first, second], endpoint_id);
    const delivered = await listed(client, 'status=delivered', 2);
    assert.deepEqual(delivered.sort(), [first.id, second.id].sort());
    const { attempts } = await client.delivery(first.id);
    assert.deepEqual(
      attempts.map(({ number, trigger }) => [number, trigger]),
      [[1, 'released']],
    );
    await listed(client, 'status=parked', MEMBERS - 2);

    // It has begun, and a signal with a start is a signal to it.
    await release(system.temporal.client, await waiting(MEMBERS - 2), endpoint_id, true);
    await listed(client, 'status=delivered', MEMBERS);
    await until(
      () => describeGroup(workflowId),
      ({ status }) => status.name === 'COMPLETED',
    );
    assert.equal(receiver.received.length, MEMBERS);
  });

  it('is not started again by a release that comes after its end', async () => {
    const { workflowId } = await start();
    const unit = await waiting();
    await release(system.temporal.client, unit, endpoint_id, true);
    const closed = await until(
      () => describeGroup(workflowId),
      ({ status }) => status.name === 'COMPLETED',
    );
    await release(system.temporal.client, unit, endpoint_id, true);
    assert.equal((await describeGroup(workflowId)).runId, closed.runId);
    assert.equal(receiver.received.length, MEMBERS);
  });

  it('begins by itself when its wait is over', async () => {
    const { ids } = await start(500);
    const { attempts } = await client.deliveryUntil(ids[0] ?? '', ({ status }) => status === 'delivered');
    assert.deepEqual(
      attempts.map(({ number, trigger }) => [number, trigger]),
      [[1, 'schedule']],
    );
    await listed(client, 'status=delivered', MEMBERS);
    assert.equal(receiver.received.length, MEMBERS);
  });

  it('has a delivery acted upon where it is, and the others wait on', async () => {
    const { ids } = await start();
    const [retried = '', cancelled = '', paused = '', refused = ''] = ids;
    await listed(client, 'status=parked', MEMBERS);
    assert.equal((await act(refused, 'resume')).status, 409);
    assert.equal((await act(retried, 'retry')).status, 200);
    await client.deliveryUntil(retried, ({ status }) => status === 'delivered');
    assert.equal((await act(cancelled, 'cancel')).status, 200);
    assert.equal((await client.delivery(cancelled)).status, 'cancelled');
    assert.equal((await act(paused, 'pause')).status, 200);
    assert.match((await client.delivery(paused)).reason ?? '', /^Paused by/);
    const others = await listed(client, 'status=parked', MEMBERS - 2);
    assert.ok(others.includes(refused));
    assert.equal(receiver.received.length, 1);
  });

  it('waits on if it is cancelled in Temporal: only its deliveries can be', async () => {
    const { workflowId } = await start();
    const unit = await waiting();
    await (await executionOf(system, workflowId)).cancel();
    await until(
      async () => eventTypes(await fetchHistory(system, workflowId)),
      (types) => types.includes('WORKFLOW_TASK_COMPLETED'),
    );
    await listed(client, 'status=parked', MEMBERS);
    await release(system.temporal.client, unit, endpoint_id);
    await listed(client, 'status=delivered', MEMBERS);
  });

  it('is released when its endpoint was paused and takes deliveries again', async () => {
    await start();
    await waiting();
    for (const action of ['pause', 'resume'])
      assert.equal((await client.request('POST', `/v18.0/endpoints/${endpoint_id}/${action}`)).status, 200);
    await receiver.waitFor((all) => all.length === MEMBERS);
    await listed(client, 'status=delivered', MEMBERS);
  });
});
