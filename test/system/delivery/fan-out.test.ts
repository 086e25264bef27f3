import assert from 'node:assert/strict';
import { WorkflowNotFoundError } from '@temporalio/client';
import { createStartDeliveries } from '../../../activities/delivery/start-deliveries.js';
import { registerDirectly } from '../../../bench/support/endpoints.js';
import { createKnowledge, createStarter } from '../../../src/bin/service/ledger.js';
import { newId } from '../../../src/domain/basics/ids.js';
import { fanOutWorkflowId, groupWorkflowId } from '../../../src/domain/ledger/workflow-ids.js';
import { type ApiClient, PURCHASE } from '../../support/api-client.js';
import { executionOf, fetchHistory } from '../../support/history.js';
import { answering } from '../../support/parts/answered.js';
import { readAll } from '../../support/parts/pages.js';
import { startStubWorker } from '../../support/parts/stub-worker.js';
import { type Receiver, reply, startReceiver } from '../../support/receiver.js';
import { servers } from '../../support/servers.js';
import { type SharedSystem, sharedSystem, startSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

/** A schedule so long that 301 targets need several executions. Milliseconds. */
const LONG = Array.from({ length: 1_000 }, () => 604_800_000);

describe('an event', () => {
  let system: SharedSystem;
  let receiver: Receiver;
  let client: ApiClient;

  before(async () => {
    system = await sharedSystem();
  });
  beforeEach(async () => {
    receiver = await startReceiver();
    client = await system.account();
  });
  afterEach(() => receiver.close());

  const register = (count: number) =>
    Promise.all(Array.from({ length: count }, (_, index) => client.register(`${receiver.url}/${index}`)));
  const read = async (id: string) => {
    const answer = await client.request('GET', `/v18.0/events/${id}`);
    assert.equal(answer.status, 200, answer.text);
    return answer.json;
  };

  it('goes to each of three endpoints, signed with the secret of each', async () => {
    const endpoints = await register(3);
    const event = await client.purchase();
    assert.equal(event.delivery_count, 3);
    assert.deepEqual(
      event.deliveries.map(({ endpoint_id }) => endpoint_id).sort(),
      endpoints.map(({ id }) => id).sort(),
    );
    const received = await receiver.waitFor((all) => all.length === 3);
    assert.deepEqual(received.map(({ path }) => path).sort(), ['/0', '/1', '/2']);
    assert.equal(new Set(received.map(({ headers }) => headers['webhook-id'])).size, 1);
    const rows = (most: number, account = client) =>
      system.database.records.countOf(account.accountId, event.id, most);
    await until(
      () => rows(10),
      (count) => count === 3,
    );
    assert.deepEqual([await rows(2), await rows(10, await system.account())], [2, 0]);
    assert.equal(new Set(received.map(({ headers }) => headers['webhook-signature'])).size, 3);
  });

  it('goes to each of 130 endpoints, started as groups before it is answered, which have ids alone [world]', async () => {
    const urls = Array.from({ length: 130 }, (_, index) => `${receiver.url}/${index}`);
    await registerDirectly(system.database.endpoints, client.accountId, urls);
    const event = await client.purchase();
    assert.equal(event.delivery_count, 130);
    assert.equal(event.deliveries, undefined);
    const received = await receiver.waitFor((all) => all.length === 130);
    assert.equal(new Set(received.map(({ path }) => path)).size, 130);
    // Temporal Cloud takes half as many endpoints in a search attribute.
    const parts = servers().apiKey === undefined ? ['0+120', '120'] : ['0', '60', '120'];
    const groups = parts.map((part) => groupWorkflowId(`${event.id}:${part}`));
    for (const workflowId of groups) {
      const { events } = await fetchHistory(system, workflowId);
      const [input] = events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads ?? [];
      assert.doesNotMatch(Buffer.from(input?.data ?? []).toString(), /order-1|payload|https:/);
    }
    const complete = await until(
      () => read(event.id),
      ({ deliveries }) =>
        deliveries.length === 130 &&
        deliveries.every((one: { status: string }) => one.status === 'delivered'),
    );
    assert.equal(complete.fan_out, undefined);
    assert.deepEqual(
      new Set(complete.deliveries.map((one: { workflow_id: string }) => one.workflow_id)),
      new Set(groups),
    );
    // They are more than a page has.
    const listed = await until(
      () => readAll(client, '/v18.0/deliveries?limit=100'),
      (rows) => rows.length === 130 && rows.every(({ status }) => status === 'delivered'),
    );
    assert.deepEqual(
      listed.map(({ id }) => id).sort(),
      complete.deliveries.map(({ id }: { id: string }) => id).sort(),
    );
    assert.deepEqual(
      (await readAll(client, '/v18.0/events')).map(({ id }) => id),
      [event.id],
    );
    assert.equal(receiver.received.length, 130);
  });

  it('that is accepted again starts no group twice [world]', async () => {
    const targets = (await register(25)).map(({ id }) => ({ endpoint_id: id }));
    const starter = createStarter(
      system.settings,
      system,
      createKnowledge(system.settings, system),
      undefined,
    );
    const event = {
      account_id: client.accountId,
      event_id: newId('event'),
      event_kind: 'purchase',
      payload: PURCHASE,
      accepted_at: new Date().toISOString(),
    };
    const group = system.temporal.client.workflow.getHandle(groupWorkflowId(`${event.event_id}:0`));
    await starter.accept({ event, targets });
    await receiver.waitFor((all) => all.length === 25);
    await group.result();
    const { runId } = await group.describe();
    await starter.accept({ event, targets });
    assert.equal((await group.describe()).runId, runId);
    assert.equal(receiver.received.length, 25);
  });

  it('has the progress of its fan-out in the execution, as explain says [world]', async () => {
    const waiting = await startSystem({}, 'api');
    const batches: { first: number; go(): void }[] = [];
    const startDeliveries = ({ first }: { first: number }) =>
      new Promise<void>((go) => batches.push({ first, go }));
    const taskQueue = waiting.settings.HOOKLINE_TASK_QUEUE;
    let stop: (() => Promise<void>) | undefined;
    try {
      const producer = await waiting.account();
      const id = newId('event');
      const starter = createStarter(
        waiting.settings,
        waiting,
        createKnowledge(waiting.settings, waiting),
        undefined,
      );
      const event = {
        account_id: producer.accountId,
        event_id: id,
        event_kind: 'purchase',
        payload: PURCHASE,
        accepted_at: new Date().toISOString(),
      };
      const targets = Array.from({ length: 601 }, () => ({ endpoint_id: newId('endpoint') }));
      const query = `endpoint_id=${targets[600]?.endpoint_id}&event_id=${id}`;
      await starter.accept({ event, targets });
      const { json } = await producer.request('GET', `/v18.0/events/${id}`);
      assert.deepEqual(json.fan_out, { started: 0, total: 601 });
      const started = async () => {
        const { summary } = (await producer.request('GET', `/v18.0/explain?${query}`)).json;
        return /: (\d+) of 601 so far/.exec(summary)?.[1];
      };
      await until(started, (count) => count === '0');

      stop = await startStubWorker(waiting.temporal, taskQueue, { startDeliveries });
      await until(
        () => batches,
        ([batch]) => batch?.first === 0,
      );
      assert.equal(await started(), '0');
      batches[0]?.go();
      await until(
        () => batches,
        ([, batch]) => batch?.first === 600,
      );
      assert.equal(await started(), '600');
      batches[1]?.go();
      await until(started, (count) => count === undefined);
    } finally {
      await stop?.();
      await waiting.stop();
    }
  });

  it('is started once for each of so many endpoints that an execution starts their groups [world]', async () => {
    const taskQueue = `stub-${newId('group')}`;
    const settings = { ...system.settings, HOOKLINE_TASK_QUEUE: taskQueue };
    const starter = createStarter(settings, system, createKnowledge(settings, system), undefined);
    const reached: string[] = [];
    const stop = await startStubWorker(system.temporal, taskQueue, {
      startDeliveries: createStartDeliveries({ ledger: starter }),
      async attemptFirst(request) {
        reached.push(...request.orders.map(({ endpoint_id }) => endpoint_id));
        return answering(200)(request);
      },
    });
    const targets = Array.from({ length: 301 }, () => ({ endpoint_id: newId('endpoint'), schedule: LONG }));
    const event = {
      account_id: client.accountId,
      event_id: newId('event'),
      event_kind: 'purchase',
      payload: PURCHASE,
      accepted_at: new Date().toISOString(),
    };
    try {
      await starter.accept({ event, targets });
      await until(
        () => reached,
        ({ length }) => length >= targets.length,
      );
      assert.deepEqual(reached.sort(), targets.map(({ endpoint_id }) => endpoint_id).sort());
      const starting = fanOutWorkflowId(event.account_id, event.event_id);
      assert.ok(await (await executionOf(system, starting)).describe());
    } finally {
      await stop();
    }
  });

  it('that goes nowhere is a document, and no execution', async () => {
    await client.register(receiver.url, { status: 'active', event_kinds: ['*'] });
    const stranger = await system.account();
    const event = await stranger.purchase();
    assert.equal(event.delivery_count, 0);
    assert.deepEqual(event.deliveries, []);
    const answer = await stranger.request('GET', `/v18.0/events/${event.id}`);
    assert.equal(answer.status, 200);
    assert.deepEqual(answer.json.deliveries, []);
    assert.deepEqual(answer.json.payload, JSON.parse(PURCHASE));
    const listed = await until(
      async () => (await stranger.request('GET', '/v18.0/events')).json.data,
      (events) => events.length === 1,
    );
    assert.equal(listed[0].id, event.id);
    assert.equal(receiver.received.length, 0);
    // An event that is accepted later is started later.
    await stranger.register(receiver.url);
    const { deliveries } = await stranger.purchase();
    await stranger.deliveryUntil(deliveries[0]?.id ?? '', ({ status }) => status === 'delivered');
    const none = system.temporal.client.workflow.getHandle(fanOutWorkflowId(stranger.accountId, event.id));
    await assert.rejects(none.describe(), WorkflowNotFoundError);
  });

  it('can be read right after it was accepted, with every delivery [world]', async () => {
    receiver.handle(reply(500));
    const endpoints = await register(8);
    for (let round = 0; round < 4; round++) {
      const event = await client.purchase();
      const { deliveries } = await read(event.id);
      assert.deepEqual(
        deliveries.map((one: { endpoint_id: string }) => one.endpoint_id).sort(),
        endpoints.map(({ id }) => id).sort(),
      );
    }
  });

  it('is not held up for other endpoints by one that hangs', async () => {
    const hanging = await startReceiver({ handler: () => {} });
    try {
      await client.register(hanging.url);
      await register(2);
      const event = await client.purchase();
      await hanging.waitFor((all) => all.length === 1);
      await receiver.waitFor((all) => all.length === 2);
      assert.equal(hanging.received[0]?.answered, undefined);
      assert.equal(event.delivery_count, 3);
    } finally {
      await hanging.close();
    }
  });
});
