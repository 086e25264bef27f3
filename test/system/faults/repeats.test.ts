import assert from 'node:assert/strict';
import type { Delivery, DeliverySummary } from '../../../src/domain/view/delivery-view.js';
import { type Accepted, type ApiClient, apiClient, PURCHASE } from '../../support/api-client.js';
import { type FreezingProxy, startFreezingProxy } from '../../support/outside/freezing-proxy.js';
import { readAll } from '../../support/parts/pages.js';
import { type ServiceProcess, startServiceProcess } from '../../support/programs/process.js';
import { type Receiver, startReceiver } from '../../support/receiver.js';
import { servers } from '../../support/servers.js';
import { newAccount, startSystem, type TestSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

const EVENTS = 5;
const KEYS = Array.from({ length: EVENTS }, (_, index) => `order-${index}`);

/**
 * Two processes, one of which reaches Temporal through a proxy. While its first start call, of one delivery, has no
 * response, the other events are put into a group.
 */
describe('events whose starts Temporal does not confirm [world]', () => {
  let first: ServiceProcess;
  let second: TestSystem;
  let temporal: FreezingProxy;
  let receiver: Receiver;
  let client: ApiClient;

  beforeEach(async () => {
    temporal = await startFreezingProxy(servers().temporalAddress);
    receiver = await startReceiver();
    second = await startSystem({ HOOKLINE_TEST_TIME_SCALE: '0.4' });
    first = await startServiceProcess({ ...second.environment, TEMPORAL_ADDRESS: temporal.address }, [
      '--role',
      'api',
    ]);
    client = await newAccount(second.database, second.url);
    await client.register(receiver.url);
    // It accepts events once it has asked Temporal whether MongoDB was restored. The rest of /readyz stays 503 here:
    // databases of tests have one index alone, so that `migrated` fails.
    await until(
      async () => (await fetch(`${first.url}/readyz`)).text(),
      (text) => /"events":"ok"/.test(text),
    );
  });
  afterEach(async () => {
    temporal.thaw();
    await temporal.close();
    await first.kill();
    await second.stop();
    await receiver.close();
  });

  /** Posts all events to a process, each with its key. */
  const post = async (url: string): Promise<Accepted[]> => {
    const { request } = apiClient(url, client);
    const answers = await Promise.all(
      KEYS.map((key) =>
        request('POST', '/v18.0/events/purchase', { raw: PURCHASE, headers: { 'idempotency-key': key } }),
      ),
    );
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([202]), answers[0]?.text);
    return answers.map(({ json }) => json as Accepted);
  };
  const rows = () => readAll<DeliverySummary>(client, '/v18.0/deliveries?limit=100');

  /** Every view says that each event has one delivery, which was delivered at once, and the subscriber got that. */
  async function check(accepted: readonly Accepted[]): Promise<void> {
    const ids = accepted.flatMap(({ deliveries }) => deliveries.map(({ id }) => id)).sort();
    assert.equal(new Set(ids).size, EVENTS);
    const listed = await until(
      rows,
      (all) => all.length >= EVENTS && all.every(({ closed_at }) => closed_at),
    );
    assert.deepEqual(listed.map(({ id }) => id).sort(), ids);
    assert.deepEqual(
      (await readAll<{ id: string }>(client, '/v18.0/events')).map(({ id }) => id).sort(),
      accepted.map(({ id }) => id).sort(),
    );
    const deliveries: Delivery[] = await Promise.all(ids.map((id) => client.delivery(id)));
    for (const { status, attempts } of deliveries)
      assert.deepEqual([status, attempts.length], ['delivered', 1]);
    const received = receiver.received.map(({ headers }) => headers['webhook-id']).sort();
    assert.deepEqual(received, accepted.map(({ id }) => id).sort());
  }

  it('are accepted all the same, and a repeat at another process gets the same ones', async () => {
    temporal.freeze();
    const accepted = await post(first.url);
    assert.deepEqual(await post(second.url), accepted);
    assert.equal(receiver.received.length, 0, 'the first is there, and will start them');
    temporal.thaw();
    await check(accepted);
    const executions = new Set((await rows()).map(({ workflow_id }) => workflow_id));
    assert.ok(executions.size < EVENTS, 'most of them are in a group');
  });

  it('are started once if Temporal has persisted them and its responses are lost', async () => {
    temporal.holdAnswers();
    const accepted = await post(first.url);
    // The start of the group comes when that of the first event is known to have ended.
    await until(rows, (all) => all.length > 0);
    await temporal.cut();
    await temporal.restore();
    await check(accepted);
  });

  it('have their first attempts recorded by a process that stops before they are started', async () => {
    const both = await startServiceProcess({ ...second.environment, TEMPORAL_ADDRESS: temporal.address });
    try {
      await until(
        async () => (await fetch(`${both.url}/readyz`)).text(),
        (text) => /"events":"ok"/.test(text),
      );
      temporal.freeze();
      const accepted = await post(both.url);
      await receiver.waitFor((all) => all.length === EVENTS);
      both.terminate();
      // The worker stops half a second later, while the starts have no response.
      await until(
        () => both.lines.join('\n'),
        (text) => text.includes('"state":"STOPPING"'),
      );
      temporal.thaw();
      assert.equal(await both.exited, 0, both.lines.join('\n'));
      await check(accepted);
    } finally {
      await both.kill();
    }
  });

  it('are started by another process if theirs dies', async () => {
    temporal.freeze();
    const accepted = await post(first.url);
    await first.kill();
    await check(accepted);
  });

  it('are started once if theirs only stood still', async () => {
    temporal.freeze();
    const accepted = await post(first.url);
    process.kill(first.pid, 'SIGSTOP');
    await check(accepted);
    temporal.thaw();
    process.kill(first.pid, 'SIGCONT');
    // It has tried to start them by then: it starts what it accepts in the order in which it was accepted.
    const later = await apiClient(first.url, client).purchase();
    await client.deliveryUntil(later.deliveries[0]?.id ?? '', ({ status }) => status === 'delivered');
    assert.equal(receiver.received.length, EVENTS + 1);
  });
});
