import assert from 'node:assert/strict';
import { incidentWorkflowId } from '../../../src/domain/ledger/workflow-ids.js';
import { type ApiClient, registering } from '../../support/api-client.js';
import { executionOf, untilAtRest, workflowIdOf } from '../../support/history.js';
import { promised } from '../../support/promised.js';
import { type Receiver, reply, startReceiver } from '../../support/receiver.js';
import { ONE_BY_ONE, type SharedSystem, sharedSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

describe('an answer 410 that comes after the endpoint has got another URL', () => {
  let system: SharedSystem;
  let client: ApiClient;
  let former: Receiver;
  let present: Receiver;
  /** Lets the former URL answer 410. */
  let answerGone: () => void;

  beforeEach(async () => {
    system = await sharedSystem(ONE_BY_ONE);
    client = registering(await system.account(), { retry_schedule: ['500ms', '1h'] });
    former = await startReceiver();
    present = await startReceiver();
  });
  afterEach(async () => {
    await former.close();
    await present.close();
  });

  const show = async (id: string) => (await client.request('GET', `/v18.0/endpoints/${id}`)).json;
  const send = async () => (await client.purchase()).deliveries[0]?.id ?? '';

  /**
   * Sends a delivery to the former URL, which answers it only when it is told to; meanwhile the endpoint gets its
   * present URL.
   */
  async function moveDuringAttempt(endpointId: string): Promise<string> {
    const { promise: answered, resolve } = promised();
    answerGone = resolve;
    former.handle(async (_request, response) => {
      await answered;
      response.writeHead(410).end();
    });
    const before = former.received.length;
    const delivery = await send();
    await former.waitFor((all) => all.length > before);
    const body = { target_url: present.url };
    assert.equal((await client.request('PATCH', `/v18.0/endpoints/${endpointId}`, { body })).status, 200);
    return delivery;
  }

  it('does not disable it: the delivery goes to the present URL [world]', async () => {
    const { id } = await client.register(former.url);
    const delivery = await moveDuringAttempt(id);
    answerGone();
    const { attempts } = await client.deliveryUntil(delivery, ({ status }) => status === 'delivered');
    assert.deepEqual(
      attempts.map(({ status_code }) => status_code),
      [410, 200],
    );
    assert.equal((await show(id)).status, 'active');
  });

  it('does not end an incident that is open [world]', async () => {
    former.handle(reply(500));
    present.handle(reply(500));
    const { id } = await client.register(former.url);
    const incident = system.temporal.client.workflow.getHandle(incidentWorkflowId(client.accountId, id));
    const failing = await send();
    await client.deliveryUntil(failing, ({ attempts }) => attempts.length === 2);
    const incidentId = incidentWorkflowId(client.accountId, id);
    const { runId } = await (await executionOf(system, incidentId)).describe();
    const delivery = await moveDuringAttempt(id);
    answerGone();
    await client.deliveryUntil(delivery, ({ attempts }) => attempts.length === 2);
    assert.equal((await show(id)).status, 'active');
    const now = await incident.describe();
    assert.deepEqual([now.runId, now.status.name], [runId, 'RUNNING']);

    await untilAtRest(system, workflowIdOf(client, delivery));
    present.handle(reply(200));
    const { status, text } = await client.request('POST', `/v18.0/deliveries/${delivery}/retry`);
    // A probe may find out first; then it is delivered already, or about to be.
    if (status === 409) await client.deliveryUntil(delivery, (one) => one.status === 'delivered');
    else assert.equal(status, 200, text);
    const { outcome } = (await incident.result()) as { outcome: string };
    assert.equal(outcome, 'recovered');
    await until(
      () => show(id),
      ({ incident: open }) => open === undefined,
    );
  });
});
