import assert from 'node:assert/strict';
import { incidentWorkflowId } from '../../../src/domain/ledger/workflow-ids.js';
import type { DeliverySummary } from '../../../src/domain/view/delivery-view.js';
import type { ApiClient } from '../../support/api-client.js';
import { fetchHistory, untilHeard, workflowIdOf } from '../../support/history.js';
import { actionsIn } from '../../support/parts/actions.js';
import { inTurn, type Receiver, reply, startReceiver } from '../../support/receiver.js';
import { type SharedSystem, sharedSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

/** Endpoints of one event, whose deliveries are a group. */
const IN_GROUP = 20;

/** Cost of deliveries in Temporal Cloud: `docs/tasks/temporal-cloud.md` has these numbers for a million. */
describe('Actions of Temporal Cloud', () => {
  let system: SharedSystem;
  let client: ApiClient;
  const receivers: Receiver[] = [];

  before(async () => {
    system = await sharedSystem({ HOOKLINE_RETRY_SCHEDULE: '200ms,200ms,200ms' });
  });
  beforeEach(async () => {
    client = await system.account();
  });
  after(() => Promise.all(receivers.map((receiver) => receiver.close())));

  async function register(handler = reply(200)): Promise<string> {
    const receiver = await startReceiver({ handler });
    receivers.push(receiver);
    return (await client.register(receiver.url)).id;
  }
  /** Posts an event, and waits until its deliveries are over. @returns the id of the first */
  async function deliver(): Promise<string> {
    const { deliveries } = await client.purchase();
    for (const { id } of deliveries) await client.deliveryUntil(id, ({ status }) => status === 'delivered');
    return deliveries[0]?.id ?? '';
  }
  async function actionsOf(workflowId: string): Promise<Record<string, number>> {
    await untilHeard(system, workflowId);
    return actionsIn(await fetchHistory(system, workflowId));
  }

  it('are two for a delivery that succeeds at once', async () => {
    await register();
    assert.deepEqual(await actionsOf(workflowIdOf(client, await deliver())), {
      WORKFLOW_EXECUTION_STARTED: 1,
      MARKER_RECORDED: 1,
    });
  });

  it('are two for a group, however many deliveries it has [world]', async () => {
    const receiver = await startReceiver();
    receivers.push(receiver);
    for (let endpoints = 0; endpoints < IN_GROUP; endpoints += 1) await client.register(receiver.url);
    const { id } = await client.purchase();
    const deliveries = await until(
      async () => (await client.request('GET', `/v18.0/events/${id}`)).json.deliveries,
      (all: DeliverySummary[]) =>
        all.length === IN_GROUP && all.every(({ status }) => status === 'delivered'),
    );
    const [workflowId = '', ...more] = new Set(deliveries.map(({ workflow_id }) => workflow_id));
    assert.deepEqual(more, []);
    assert.deepEqual(await actionsOf(workflowId), { WORKFLOW_EXECUTION_STARTED: 1, MARKER_RECORDED: 1 });
  });

  it('are so many for a delivery that succeeds at the fourth attempt, and for the incident of its endpoint [world]', async () => {
    const endpoint = await register(inTurn(reply(500), reply(500), reply(500), reply(200)));
    const id = await deliver();
    const {
      TIMER_STARTED: timers = 0,
      // That it waits, and that it does not any more.
      UPSERT_WORKFLOW_SEARCH_ATTRIBUTES: upserts = 0,
      ...others
    } = await actionsOf(workflowIdOf(client, id));
    assert.deepEqual(others, {
      WORKFLOW_EXECUTION_STARTED: 1,
      MARKER_RECORDED: 1,
      ACTIVITY_TASK_SCHEDULED: 3,
    });
    // On a busy machine a retry can be due before the workflow comes to it: then it does not wait.
    assert.ok(timers <= 3, `${timers} timers`);
    assert.ok(upserts <= 2, `${upserts} upserts`);
    // Of the endpoint, however many deliveries fail; each probe is a timer and an activity more.
    const ofIncident = await actionsOf(incidentWorkflowId(client.accountId, endpoint));
    assert.equal(ofIncident['WORKFLOW_EXECUTION_STARTED'], 1);
  });
});
