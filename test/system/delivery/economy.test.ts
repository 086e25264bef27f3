import assert from 'node:assert/strict';
import { WorkflowNotFoundError } from '@temporalio/client';
import { countCalls } from '../../../bench/support/temporal-calls.js';
import { freePort } from '../../../packages/embedded-servers/src/index.js';
import { connectDatabase, type Database } from '../../../src/models/database.js';
import { connectTemporal, type TemporalConnection } from '../../../src/temporal/server/connection.js';
import type { ApiClient } from '../../support/api-client.js';
import { eventTypes, fetchHistory, untilHeard, workflowIdOf } from '../../support/history.js';
import { type ServiceProcess, startServiceProcess } from '../../support/programs/process.js';
import { type Receiver, startReceiver } from '../../support/receiver.js';
import { temporalOfRun } from '../../support/servers.js';
import { newAccount, testEnvironment } from '../../support/system.js';
import { until } from '../../support/until.js';

const DELIVERIES = 10;

describe('a delivery that succeeds at once [world]', () => {
  let receiver: Receiver;
  let database: Database;
  let temporal: TemporalConnection;
  let service: ServiceProcess;
  let client: ApiClient;
  let metrics: string;

  before(async () => {
    metrics = `127.0.0.1:${await freePort()}`;
    const environment = await testEnvironment({ HOOKLINE_TEMPORAL_METRICS_ADDRESS: metrics });
    receiver = await startReceiver();
    database = await connectDatabase(environment['MONGODB_URI'] ?? '');
    temporal = await connectTemporal(temporalOfRun());
    service = await startServiceProcess(environment);
    // It asks Temporal for its time when it starts, and once more a little later.
    await until(
      () => countCalls(metrics),
      (calls) =>
        ['StartWorkflowExecution', 'RespondWorkflowTaskCompleted'].every(
          (name) => (calls.get(name) ?? 0) >= 2,
        ),
    );
    client = await newAccount(database, service.url);
    await client.register(receiver.url);
  });
  after(async () => {
    await service.kill();
    await temporal.close();
    await database.close();
    await receiver.close();
  });

  /** @returns says which calls to Temporal the service has made since */
  async function countedCalls(): Promise<() => Promise<Record<string, number>>> {
    const before = await countCalls(metrics);
    return async () => {
      const made = [...(await countCalls(metrics))].map(
        ([operation, count]) => [operation, count - (before.get(operation) ?? 0)] as const,
      );
      return Object.fromEntries(made.filter(([, count]) => count > 0));
    };
  }

  it('makes six history events', async () => {
    const event = await client.purchase();
    const id = event.deliveries[0]?.id ?? '';
    await client.deliveryUntil(id, ({ status }) => status === 'delivered');
    const workflowId = workflowIdOf(client, id);
    await untilHeard({ temporal }, workflowId);
    assert.deepEqual(eventTypes(await fetchHistory({ temporal }, workflowId)), [
      'WORKFLOW_EXECUTION_STARTED',
      'WORKFLOW_TASK_SCHEDULED',
      'WORKFLOW_TASK_STARTED',
      'WORKFLOW_TASK_COMPLETED',
      'MARKER_RECORDED',
      'WORKFLOW_EXECUTION_COMPLETED',
    ]);
  });

  it('costs two calls to Temporal: the start, and the report of its only workflow task', async () => {
    const calls = await countedCalls();
    for (let sent = 0; sent < DELIVERIES; sent++) {
      const event = await client.purchase();
      // Watched by a connection of the test's own, which the service does not count. What comes before the start of
      // another has ended could share its execution.
      const handle = temporal.client.workflow.getHandle(workflowIdOf(client, event.deliveries[0]?.id ?? ''));
      await until(
        () => handle.result().catch((error: unknown) => error),
        (result) => !(result instanceof WorkflowNotFoundError),
      );
    }
    assert.deepEqual(await calls(), {
      StartWorkflowExecution: DELIVERIES,
      RespondWorkflowTaskCompleted: DELIVERIES,
    });
  });

  it('is listed without a call to Temporal', async () => {
    const page = async (path: string) => (await client.request('GET', path)).json;
    const all = await until(
      () => page('/v18.0/deliveries?limit=100&status=delivered'),
      ({ data }) => data.length === DELIVERIES + 1,
    );
    for (const limit of [DELIVERIES, DELIVERIES + 1]) {
      const calls = await countedCalls();
      const { data, paging } = await page(`/v18.0/deliveries?limit=${limit}&status=delivered`);
      assert.deepEqual(data, all.data.slice(0, limit));
      assert.deepEqual(await calls(), {});
      assert.equal(paging.next !== undefined, limit === DELIVERIES);
      if (paging.next) assert.deepEqual((await page(paging.next)).data, all.data.slice(limit));
    }
  });
});
