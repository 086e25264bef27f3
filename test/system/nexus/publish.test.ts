import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import type { WorkflowHandle } from '@temporalio/client';
import type { ApplicationFailure } from '@temporalio/common';
import { Worker } from '@temporalio/worker';
import type { HandlerError } from 'nexus-rpc';
import { deliveryId } from '../../../src/domain/basics/delivery-id.js';
import { newId } from '../../../src/domain/basics/ids.js';
import { OPERATOR } from '../../../src/domain/change/change.js';
import { connectTemporal, type TemporalConnection } from '../../../src/temporal/server/connection.js';
import { type ApiClient, apiClient, PURCHASE } from '../../support/api-client.js';
import { type Receiver, reply, startReceiver } from '../../support/receiver.js';
import { temporalOfRun } from '../../support/servers.js';
import { startSystem, type TestSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

const WORKFLOWS = fileURLToPath(new URL('../../support/parts/publishing-workflow.ts', import.meta.url));

/** Workflows of another team, in a namespace and a task queue of their own. */
describe('a workflow of another team [world]', () => {
  let system: TestSystem;
  let receiver: Receiver;
  let team: TemporalConnection;
  let worker: Worker;
  let working: Promise<void>;
  let endpoint: string;

  const account = newId('account');
  const limited = newId('account');

  before(async () => {
    const queue = `publish-${Date.now()}`;
    endpoint = queue;
    system = await startSystem({
      HOOKLINE_NEXUS_ACCOUNTS: `${queue}=${account},${queue}-limited=${limited}`,
    });
    for (const id of [account, limited]) {
      await system.database.accounts.create('test', OPERATOR, {
        id,
        ...(id === limited && { limits: { events_per_minute: 1 } }),
      });
    }
    team = await connectTemporal({ ...temporalOfRun(), namespace: 'default' });
    for (const taskQueue of [queue, `${queue}-limited`]) {
      const target = { worker: { namespace: system.settings.TEMPORAL_NAMESPACE, taskQueue } };
      await team.native.operatorService.createNexusEndpoint({ spec: { name: taskQueue, target } });
    }
    const options = { connection: team.native, namespace: 'default', taskQueue: queue };
    worker = await Worker.create({ ...options, workflowsPath: WORKFLOWS });
    working = worker.run();
    receiver = await startReceiver();
  });
  after(async () => {
    worker.shutdown();
    await working;
    await team.close();
    await receiver.close();
    await system.stop();
  });
  beforeEach(() => receiver.handle(reply(200)));

  const client = async (): Promise<ApiClient> => {
    const { key, api_key } = await system.database.apiKeys.create(
      account,
      'test',
      ['events:write', 'endpoints:write', 'deliveries:read', 'deliveries:write'],
      OPERATOR,
    );
    return apiClient(system.url, { accountId: account, key, keyId: api_key.id });
  };
  const start = (operation: string, event: object, to = endpoint): Promise<WorkflowHandle> =>
    team.client.workflow.start('publishing', {
      taskQueue: endpoint,
      workflowId: newId('event'),
      args: [to, operation, event],
    });
  const run = async (...what: Parameters<typeof start>) => (await start(...what)).result();
  const purchase = (more: object = {}) => ({ kind: 'purchase', payload: JSON.parse(PURCHASE), ...more });

  it('publishes an event, which is accepted once under its key, and delivered', async () => {
    const { id: endpointId } = await (await client()).register(receiver.url);
    const event = purchase({ payload: undefined, payload_json: PURCHASE, idempotency_key: 'order-1' });
    const first = await run('publish', event);
    assert.deepEqual(
      [first.kind, first.deliveries.map((one: Outcome) => one.endpoint_id)],
      ['purchase', [endpointId]],
    );
    assert.deepEqual(await run('publish', event), first);
    const [got] = await receiver.waitFor((some) => some.length > 0);
    assert.deepEqual([got?.headers['webhook-id'], got?.body.toString()], [first.id, PURCHASE]);
  });

  it('is told of an invalid event by the text of the HTTP interface, and does not try again', async () => {
    const { json } = await (await client()).request('POST', '/v18.0/events/purchase', { raw: '{}' });
    const failed = await run('publish', { kind: 'purchase', payload: {} }).catch((error: Error) => error);
    const [operation, handler, problem] = causesOf(failed);
    assert.equal(operation?.name, 'NexusOperationFailure');
    assert.deepEqual([(handler as HandlerError).type, handler?.message], ['BAD_REQUEST', json.detail]);
    const { type, details } = problem as ApplicationFailure;
    assert.deepEqual([type, details], ['invalid_payload', [json.errors]]);
    for (const [input, wrong] of [
      [{ kind: 'purchase' }, /payload or payload_json must be there/],
      [{ kind: 'purchase', payload: {}, more: 1 }, /more is unknown/],
    ] as const)
      assert.match(causesOf(await run('publish', input).catch((error) => error))[1]?.message ?? '', wrong);
  });

  it('waits until all deliveries of an event are closed, and is told how each ended', async () => {
    const to = await client();
    const busy = await startReceiver({ handler: reply(500) });
    const { id: well } = await to.register(receiver.url);
    const { id: failing } = await to.register(busy.url);
    const handle = await start('publishAndWait', purchase({ endpoint_ids: [well, failing] }));
    const [request] = await busy.waitFor((some) => some.length > 0);
    const id = deliveryId({ event_id: request?.headers['webhook-id'] ?? '', endpoint_id: failing });
    await until(
      async () => (await to.request('POST', `/v18.0/deliveries/${id}/cancel`)).status,
      (status) => status === 200,
    );
    const outcome = await handle.result();
    assert.deepEqual(
      [outcome.delivery_count, outcome.deliveries.map((one: Outcome) => [one.endpoint_id, one.status])],
      [
        2,
        [
          [well, 'delivered'],
          [failing, 'cancelled'],
        ],
      ],
    );
    await busy.close();
  });

  it('ends the wait, and not the deliveries, when it is cancelled', async () => {
    const to = await client();
    const busy = await startReceiver({ handler: reply(500) });
    const { id: endpointId } = await to.register(busy.url);
    const handle = await start('publishAndWait', purchase({ endpoint_ids: [endpointId] }));
    const [request] = await busy.waitFor((some) => some.length > 0);
    const eventId = request?.headers['webhook-id'] ?? '';
    const { client: own } = system.temporal;
    const wait = await until(
      async () =>
        (
          await own.workflow
            .list({ query: `WorkflowType = 'awaitOutcome' AND HooklineEvent = '${eventId}'` })
            [Symbol.asyncIterator]()
            .next()
        ).value,
      (found) => found !== undefined,
    );
    await handle.cancel();
    await assert.rejects(handle.result());
    const { status } = await until(
      () => own.workflow.getHandle(wait.workflowId).describe(),
      ({ status: { name } }) => name !== 'RUNNING',
    );
    assert.equal(status.name, 'CANCELLED');
    const delivery = await to.delivery(deliveryId({ event_id: eventId, endpoint_id: endpointId }));
    assert.ok(['retrying', 'parked'].includes(delivery.status), delivery.status);
    await busy.close();
  });

  it('publishes for the account of its endpoint alone, and is tried again when that has used up its limit', async () => {
    const limitedEndpoint = `${endpoint}-limited`;
    const { id } = await run('publish', purchase(), limitedEndpoint);
    assert.equal((await (await client()).request('GET', `/v18.0/events/${id}`)).status, 404);
    let handle = await start('publish', purchase(), limitedEndpoint);
    const { raw } = await until(
      async () => {
        const described = await handle.describe();
        // Another minute had begun.
        if (described.status.name === 'COMPLETED')
          handle = await start('publish', purchase(), limitedEndpoint);
        return described;
      },
      ({ raw: { pendingNexusOperations } }) => Boolean(pendingNexusOperations?.[0]?.lastAttemptFailure),
    );
    const [pending] = raw.pendingNexusOperations ?? [];
    assert.match(JSON.stringify(pending?.lastAttemptFailure), /More than 1 requests in 60 seconds/);
    await handle.terminate();
  });
});

type Outcome = { endpoint_id: string; status: string };

/** The causes of an error, the nearest first. */
function causesOf(error: Error): Error[] {
  return error.cause instanceof Error ? [error.cause, ...causesOf(error.cause)] : [];
}
