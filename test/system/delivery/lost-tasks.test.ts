import assert from 'node:assert/strict';
import { apiClient } from '../../support/api-client.js';
import { executionOf, workflowIdOf } from '../../support/history.js';
import { type FreezingProxy, startFreezingProxy } from '../../support/outside/freezing-proxy.js';
import { type ServiceProcess, startServiceProcess } from '../../support/programs/process.js';
import { type Receiver, reply, startReceiver } from '../../support/receiver.js';
import { servers } from '../../support/servers.js';
import { newAccount, ONE_BY_ONE, startSystem, type TestSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

/** Temporal misses the heartbeats of a dead process ten seconds longer than an attempt may last. */
const ATTEMPT_TIMEOUT = '15s';

describe('attempts whose rows are kept, of which Temporal hears nothing [world]', () => {
  let apart: TestSystem;
  let temporal: FreezingProxy;
  let dying: ServiceProcess;
  let following: ServiceProcess;
  let receiver: Receiver;

  before(async () => {
    temporal = await startFreezingProxy(servers().temporalAddress);
    apart = await startSystem({ HOOKLINE_ATTEMPT_TIMEOUT: ATTEMPT_TIMEOUT, ...ONE_BY_ONE }, 'api');
    dying = await startServiceProcess({ ...apart.environment, TEMPORAL_ADDRESS: temporal.address });
    receiver = await startReceiver();
  });
  after(async () => {
    temporal.thaw();
    await Promise.all([dying.kill(), following?.kill()]);
    await temporal.close();
    await apart.stop();
    await receiver.close();
  });

  it('are not made again: a first one, whose workflow task is lost, and a later one, whose activity is', async () => {
    const answers: (() => void)[] = [];
    const count = (path: string) => receiver.received.filter((one) => one.path === path).length;
    receiver.handle((request, response, body) => {
      if (request.url === '/later' && count('/later') === 1) return reply(500)(request, response, body);
      if (request.url === '/other') return reply(200)(request, response, body);
      return void answers.push(() => response.writeHead(200).end());
    });
    const clients = [];
    for (const path of ['/later', '/first']) {
      const client = apiClient(dying.url, await newAccount(apart.database, dying.url));
      await client.register(`${receiver.url}${path}`, { retry_schedule: ['100ms'] });
      clients.push(client);
    }
    // At once: what is held is answered before an attempt is given up.
    const accounts = await Promise.all(
      clients.map(async (client) => ({ client, id: (await client.purchase()).deliveries[0]?.id ?? '' })),
    );
    await until(
      () => answers.length,
      (held) => held === accounts.length,
    );
    // Its executions are started, and it has their tasks: it has already made what was started later.
    const later = apiClient(dying.url, await newAccount(apart.database, dying.url));
    await later.register(`${receiver.url}/other`);
    const { deliveries } = await later.purchase();
    const made = await executionOf(apart, workflowIdOf(later, deliveries[0]?.id ?? ''));
    await made.result();
    temporal.freeze();
    for (const answer of answers) answer();
    const rows = [];
    for (const { client, id } of accounts)
      rows.push(await client.deliveryUntil(id, ({ status }) => status === 'delivered'));
    await dying.kill();
    const executions = accounts.map(({ client, id }) =>
      apart.temporal.client.workflow.getHandle(workflowIdOf(client, id)),
    );
    for (const handle of executions) assert.equal((await handle.describe()).status.name, 'RUNNING');

    following = await startServiceProcess(apart.environment);
    await Promise.all(executions.map((handle) => handle.result()));
    assert.deepEqual([count('/first'), count('/later')], [1, 2]);
    for (const [at, { client, id }] of accounts.entries()) {
      const delivery = await apiClient(following.url, client).delivery(id);
      assert.deepEqual(delivery, rows[at]);
      assert.ok(delivery.attempts.every(({ lost_tries }) => lost_tries === undefined));
    }
  });
});
