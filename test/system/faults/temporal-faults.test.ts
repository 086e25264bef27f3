import assert from 'node:assert/strict';
import { MAX_PAYLOAD_BYTES } from '../../../packages/payload-contract/src/index.js';
import { DELIVERY_TYPE } from '../../../src/domain/ledger/workflow-ids.js';
import { connectDatabase, type Database } from '../../../src/models/database.js';
import { connectTemporal, type TemporalConnection } from '../../../src/temporal/server/connection.js';
import { MAX_UNSTARTED_BYTES } from '../../../src/temporal/write/accept/unstarted.js';
import { type Accepted, type ApiClient, apiClient, PURCHASE } from '../../support/api-client.js';
import { type FreezingProxy, startFreezingProxy } from '../../support/outside/freezing-proxy.js';
import { readAll } from '../../support/parts/pages.js';
import { startServiceProcess } from '../../support/programs/process.js';
import { neverAnswer, type Receiver, reply, startReceiver } from '../../support/receiver.js';
import { servers, temporalOfRun } from '../../support/servers.js';
import { newAccount, SHORT_WAITS, startSystem, testEnvironment } from '../../support/system.js';
import { until } from '../../support/until.js';

/** Another process, or the next one, starts within this what was accepted and not started, milliseconds. */
const STARTED_WITHIN_MS = 30_000;

describe('Temporal [world]', () => {
  /** A way to it that is the tests' own. */
  let direct: TemporalConnection;
  let temporal: FreezingProxy;
  let receiver: Receiver;

  before(async () => {
    direct = await connectTemporal(temporalOfRun());
  });
  after(() => direct.close());
  beforeEach(async () => {
    temporal = await startFreezingProxy(servers().temporalAddress);
    receiver = await startReceiver();
  });
  afterEach(async () => {
    await temporal.close();
    await receiver.close();
  });

  /** Resolves when a process accepts events: it has asked Temporal whether MongoDB was restored. */
  const untilAccepting = (url: string) =>
    until(
      async () => (await fetch(`${url}/readyz`)).text(),
      (text) => /"events":"ok"/.test(text),
    );

  /** Executions of deliveries on a task queue, each run by itself. */
  async function executions(taskQueue = '', status = ''): Promise<{ workflowId: string; runId: string }[]> {
    const query = `TaskQueue = '${taskQueue}' AND WorkflowType = '${DELIVERY_TYPE}'${status}`;
    const found: { workflowId: string; runId: string }[] = [];
    for await (const { workflowId, runId } of direct.client.workflow.list({ query }))
      found.push({ workflowId, runId });
    return found;
  }

  describe('that hangs', () => {
    const ENDPOINTS = 10;

    it('has each request told: attempts that are recorded, and at least as many as were lost and seen', async () => {
      const system = await startSystem({
        ...SHORT_WAITS,
        HOOKLINE_ATTEMPT_TIMEOUT: '5s',
        TEMPORAL_ADDRESS: temporal.address,
      });
      const other = await startSystem(system.environment, 'worker');
      const queue = system.settings.HOOKLINE_TASK_QUEUE;
      const held: (() => void)[] = [];
      const hold = () =>
        receiver.handle((_, response) => void held.push(() => response.writeHead(200).end()));
      const isHeld = (count: number) =>
        until(
          () => held.length,
          (length) => length === count,
        );
      try {
        const [failing, healthy] = [await system.account(), await system.account()];
        const paths = new Map<string, string>();
        for (const client of [failing, healthy])
          for (let at = 0; at < ENDPOINTS; at += 1) {
            const path = `/${client.accountId}/${at}`;
            const retry_schedule = Array<string>(8).fill('1s');
            paths.set((await client.register(receiver.url + path, { retry_schedule })).id, path);
          }
        // Retries and first attempts are in flight when it hangs, and others begin after that.
        receiver.handle(reply(500));
        await Promise.all([failing.purchase(), failing.purchase()]);
        await receiver.waitFor(({ length }) => length === 2 * ENDPOINTS);
        hold();
        await isHeld(2 * ENDPOINTS);
        await Promise.all([healthy.purchase(), healthy.purchase()]);
        await isHeld(4 * ENDPOINTS);
        temporal.freeze();
        receiver.handle(reply(200));
        for (const answer of held) answer();
        await Promise.all([healthy.purchase(), healthy.purchase()]);

        // Until it has given up what was under way, and has it done again.
        await until(
          async () => {
            const running = await executions(queue, ` AND ExecutionStatus = 'Running'`);
            const all = await Promise.all(
              running.map(({ workflowId }) => direct.client.workflow.getHandle(workflowId).describe()),
            );
            return {
              tasks: all.some(({ raw }) => Number(raw.pendingWorkflowTask?.attempt) > 1),
              activities: all.some(({ raw }) =>
                raw.pendingActivities?.some(({ attempt }) => Number(attempt) > 1),
              ),
            };
          },
          ({ tasks, activities }) => tasks && activities,
        );
        temporal.thaw();

        for (const client of [failing, healthy]) {
          const count = (client === failing ? 2 : 4) * ENDPOINTS;
          const rows = await until(
            () => readAll(client, '/v18.0/deliveries?limit=100'),
            (all) => all.length >= count && all.every(({ status }) => status === 'delivered'),
          );
          assert.equal(rows.length, count);
          for (const { id, event_id, endpoint_id } of rows) {
            const { attempts } = await client.delivery(id);
            const seen = receiver.received.filter(
              ({ path, headers }) => headers['webhook-id'] === event_id && path === paths.get(endpoint_id),
            ).length;
            const lost = attempts.reduce((sum, { lost_tries = 0 }) => sum + lost_tries, 0);
            const told = `${attempts.length} recorded, ${lost} lost, ${seen} seen: ${JSON.stringify(attempts)}`;
            assert.ok(attempts.length <= seen && seen <= attempts.length + lost, told);
          }
        }
      } finally {
        temporal.thaw();
        await other.stop();
        await system.stop();
      }
    });

    it('loses nothing of the only process, which is killed before it could start anything', async () => {
      const EVENTS = 4;
      const environment = await testEnvironment();
      const queue = environment['HOOKLINE_TASK_QUEUE'];
      const database: Database = await connectDatabase(environment['MONGODB_URI'] ?? '');
      const only = await startServiceProcess({ ...environment, TEMPORAL_ADDRESS: temporal.address });
      const client = await newAccount(database, only.url);
      await client.register(receiver.url);
      await untilAccepting(only.url);
      temporal.freeze();
      receiver.handle(neverAnswer);
      const accepted = await Promise.all(Array.from({ length: EVENTS }, () => client.purchase()));
      await receiver.waitFor(({ length }) => length === EVENTS);
      await only.kill();
      assert.deepEqual(await executions(queue), []);
      receiver.handle(reply(200));

      const next = await startServiceProcess(environment);
      try {
        const reader = apiClient(next.url, client);
        const rows = await until(
          () => readAll(reader, '/v18.0/deliveries'),
          (all) => all.length >= EVENTS && all.every(({ status }) => status === 'delivered'),
          STARTED_WITHIN_MS,
        );
        const ids = accepted.flatMap(({ deliveries }) => deliveries.map(({ id }) => id)).sort();
        assert.deepEqual(rows.map(({ id }) => id).sort(), ids);
        const carriers = [...new Set(rows.map(({ workflow_id }) => workflow_id))].sort();
        await until(
          async () => (await executions(queue)).map(({ workflowId }) => workflowId).sort(),
          (found) => found.join() === carriers.join(),
        );
        for (const { id } of rows) {
          const { attempts } = await reader.delivery(id);
          assert.deepEqual(
            attempts.map(({ number, lost_tries }) => [number, lost_tries]),
            [[1, 1]],
          );
        }
        for (const { id } of accepted)
          assert.equal(receiver.received.filter(({ headers }) => headers['webhook-id'] === id).length, 2);
        assert.equal(receiver.received.length, 2 * EVENTS);
      } finally {
        await next.kill();
        await database.close();
      }
    });
  });

  describe('that is away', () => {
    /** Requests of producers at once: endpoints take as many attempts. */
    const PRODUCERS = 8;
    const LARGEST = largest();

    it('has as much accepted as may wait to be started, and no more; all of it is delivered after that', async () => {
      const environment = await testEnvironment();
      const database = await connectDatabase(environment['MONGODB_URI'] ?? '');
      const service = await startServiceProcess({ ...environment, TEMPORAL_ADDRESS: temporal.address });
      try {
        const client = await newAccount(database, service.url);
        await client.register(receiver.url);
        await untilAccepting(service.url);
        await temporal.cut();
        const accepted: Accepted[] = [];
        await Promise.all(Array.from({ length: PRODUCERS }, () => produce(client, accepted)));
        assert.equal(accepted.length, Math.floor(MAX_UNSTARTED_BYTES / LARGEST.length));
        assert.match(await (await fetch(`${service.url}/readyz`)).text(), /"events":"unavailable"/);
        const attempted = new Set(
          receiver.received.filter(({ over }) => over).map(({ headers }) => headers['webhook-id']),
        );
        assert.ok(attempted.size > 0, 'first attempts wait for no start');
        assert.deepEqual(await readAll(client, '/v18.0/deliveries?status=delivered'), []);
        const back = new Date().toISOString();
        await temporal.restore();

        const rows = await until(
          () => readAll(client, '/v18.0/deliveries?limit=100'),
          (all) => all.length >= accepted.length && all.every(({ status }) => status === 'delivered'),
        );
        assert.deepEqual(rows.map(({ event_id }) => event_id).sort(), accepted.map(({ id }) => id).sort());
        for (const { id, event_id } of rows.filter((row) => attempted.has(row.event_id))) {
          const { attempts } = await client.delivery(id);
          assert.equal(attempts.length, 1);
          assert.ok(String(attempts[0]?.at) < back, `${event_id} ${JSON.stringify(attempts)}`);
        }
        const seen = receiver.received.map(({ headers }) => headers['webhook-id']).sort();
        assert.deepEqual(seen, accepted.map(({ id }) => id).sort());
        assert.equal((await client.purchase()).delivery_count, 1);
      } finally {
        await service.kill();
        await database.close();
      }
    });

    /** Posts the largest events until one is refused. */
    async function produce(client: ApiClient, accepted: Accepted[]): Promise<void> {
      for (;;) {
        const { status, headers, json, text } = await client.request('POST', '/v18.0/events/purchase', {
          raw: LARGEST,
        });
        if (status === 202) accepted.push(json);
        else {
          assert.equal(status, 503, text);
          assert.ok(headers.get('retry-after'), text);
          assert.match(json.detail, /Nothing was accepted/);
          return;
        }
      }
    }
  });
});

/** A purchase that is as large as one may be. */
function largest(): string {
  const parts = PURCHASE.split('Notebook');
  return parts.join('N'.repeat(MAX_PAYLOAD_BYTES - parts.join('').length));
}
