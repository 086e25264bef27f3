import assert from 'node:assert/strict';
import { countCalls } from '../../../bench/support/temporal-calls.js';
import { freePort } from '../../../src/embedded/servers/ports.js';
import { connectDatabase, type Database } from '../../../src/models/database.js';
import { connectTemporal, type TemporalConnection } from '../../../src/temporal/server/connection.js';
import type { ApiClient } from '../../support/api-client.js';
import { eventTypes, fetchHistory, workflowIdOf } from '../../support/history.js';
import { type ServiceProcess, startServiceProcess } from '../../support/programs/process.js';
import { type Receiver, startReceiver } from '../../support/receiver.js';
import { temporalOfRun } from '../../support/servers.js';
import { newAccount, testEnvironment } from '../../support/system.js';

const DELIVERIES = 10;

describe('a delivery that succeeds at once', () => {
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
    client = await newAccount(database, service.url);
    await client.register(receiver.url);
  });
  after(async () => {
    await service.kill();
    await temporal.close();
    await database.close();
    await receiver.close();
  });

  it('makes six history events', async () => {
    const event = await client.purchase();
    const id = event.deliveries[0]?.id ?? '';
    await client.deliveryUntil(id, ({ status }) => status === 'delivered');
    assert.deepEqual(eventTypes(await fetchHistory({ temporal }, workflowIdOf(client, id))), [
      'WORKFLOW_EXECUTION_STARTED',
      'WORKFLOW_TASK_SCHEDULED',
      'WORKFLOW_TASK_STARTED',
      'WORKFLOW_TASK_COMPLETED',
      'MARKER_RECORDED',
      'WORKFLOW_EXECUTION_COMPLETED',
    ]);
  });

  it('costs two calls to Temporal: the start, and the report of its only workflow task', async () => {
    const before = await countCalls(metrics);
    const events = [];
    for (let sent = 0; sent < DELIVERIES; sent++) events.push(await client.purchase());
    // Watched by a connection of the test's own, which the service does not count.
    for (const event of events) {
      await temporal.client.workflow.getHandle(workflowIdOf(client, event.deliveries[0]?.id ?? '')).result();
    }
    const after = await countCalls(metrics);
    const made = Object.fromEntries(
      [...after]
        .map(([operation, count]) => [operation, count - (before.get(operation) ?? 0)] as const)
        .filter(([, count]) => count > 0),
    );
    assert.deepEqual(made, {
      StartWorkflowExecution: DELIVERIES,
      RespondWorkflowTaskCompleted: DELIVERIES,
    });
  });
});
