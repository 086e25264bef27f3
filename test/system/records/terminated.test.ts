import assert from 'node:assert/strict';
import proto from '@temporalio/proto';
import { createKeeper } from '../../../src/bin/service/ledger.js';
import { deliveryId } from '../../../src/domain/basics/delivery-id.js';
import { newId } from '../../../src/domain/basics/ids.js';
import type { TerminatedExecution } from '../../../src/domain/records/told.js';
import { TerminatedExecutionFinder } from '../../../src/temporal/read/records/terminated-executions.js';
import { startFanOut } from '../../../src/temporal/write/fan-out.js';
import type { ApiClient } from '../../support/api-client.js';
import { workflowIdOf } from '../../support/history.js';
import { startSystem, type TestSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

const FAIL = proto.temporal.api.enums.v1.CommandType.COMMAND_TYPE_FAIL_WORKFLOW_EXECUTION;

describe('executions that could not close their rows', () => {
  let system: TestSystem;
  let client: ApiClient;
  let finder: TerminatedExecutionFinder;

  before(async () => {
    // Without a worker.
    system = await startSystem({}, 'api');
    client = await system.account();
    await client.register('https://subscriber.example/hooks');
    const { database, temporal, settings } = system;
    finder = new TerminatedExecutionFinder({
      client: temporal.client,
      taskQueue: settings.HOOKLINE_TASK_QUEUE,
      events: database.events,
      rows: database.records.search,
    });
  });
  after(() => system.stop());

  /** Executions that are found, once one of some id is among them. */
  const found = (workflowId: string, afterMs = 0): Promise<TerminatedExecution[]> =>
    until(
      () => look(afterMs),
      (all) => all.some(({ run }) => run.workflow_id === workflowId),
    );

  async function look(afterMs = 0): Promise<TerminatedExecution[]> {
    const all: TerminatedExecution[] = [];
    const from = new Date(Date.now() - 600_000);
    const unreadable = (error: unknown) => assert.fail(String(error));
    for await (const one of finder.since(from, new Date(Date.now() + afterMs), unreadable)) all.push(one);
    return all;
  }

  /** Fails the execution of a delivery, as a worker does. */
  async function fail(type: string): Promise<string> {
    const { deliveries } = await client.purchase();
    const { workflowService } = system.temporal.client;
    const namespace = system.temporal.client.options.namespace;
    const id = deliveries[0]?.id ?? '';
    const failure = { message: type, applicationFailureInfo: { type, nonRetryable: true } };
    const commands = [{ commandType: FAIL, failWorkflowExecutionCommandAttributes: { failure } }];
    for (let failed: string | null | undefined; failed !== workflowIdOf(client, id); ) {
      // Others are those with which the service looks at the time.
      const { taskToken, workflowExecution } = await workflowService.pollWorkflowTaskQueue({
        namespace,
        taskQueue: { name: system.settings.HOOKLINE_TASK_QUEUE },
        identity: 'test',
      });
      await workflowService.respondWorkflowTaskCompleted({
        namespace,
        taskToken,
        identity: 'test',
        commands,
      });
      failed = workflowExecution?.workflowId;
    }
    return id;
  }

  it('are found if they failed otherwise than their deliveries do', async () => {
    const given = workflowIdOf(client, await fail('exhausted'));
    const id = await fail('TypeError');
    const all = await found(workflowIdOf(client, id));
    assert.ok(!all.some(({ run }) => run.workflow_id === given));
    const keeper = createKeeper(system);
    for (const one of all) await keeper.terminated(one);
    const { status, reason } = await client.delivery(id);
    assert.deepEqual([status, reason], ['terminated', 'Its execution failed in Temporal: TypeError.']);
    const closed = await system.database.records.search.closed([id]);
    assert.deepEqual([...closed], [id]);
    assert.ok(!(await look()).some(({ run }) => run.workflow_id === workflowIdOf(client, id)));
  });

  it('are fan-outs, which stand for the deliveries that they have not started', async () => {
    const { database, temporal, settings } = system;
    const taskQueue = settings.HOOKLINE_TASK_QUEUE;
    const other = await system.account();
    const targets = [newId('endpoint'), newId('endpoint')].map((endpoint_id) => ({ endpoint_id }));
    const event = {
      account_id: other.accountId,
      event_id: newId('event'),
      event_kind: 'purchase',
      accepted_at: new Date().toISOString(),
      payload: '{}',
    };
    const context = { accountId: event.account_id, eventId: event.event_id };
    const sealed = await system.sealer.sealCommitted(context, event.payload);
    await database.events.insert([
      { event, ...sealed, payload_bytes: 2, targets, carriers: [], starter: 'test' },
    ]);
    const options = { client: temporal.client, taskQueue, earlyAttempts: undefined };
    await startFanOut(options, event, targets.length);
    const workflowId = `fanout:${event.event_id}:${event.account_id}`;
    await temporal.client.workflow.getHandle(workflowId).terminate('no longer wanted');
    const all = await found(workflowId, 61_000);
    assert.ok(!(await look()).some(({ run }) => run.workflow_id === workflowId), 'not at once');
    const keeper = createKeeper(system);
    for (const one of all) await keeper.terminated(one);
    for (const { endpoint_id } of targets) {
      const { status, reason } = await other.delivery(deliveryId({ ...event, endpoint_id }));
      assert.equal(status, 'terminated');
      assert.match(reason ?? '', /no longer wanted/);
    }
  });
});
