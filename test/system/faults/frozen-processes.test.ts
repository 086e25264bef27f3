import assert from 'node:assert/strict';
import mongoose, { type Connection } from 'mongoose';
import { leafHash } from '../../../packages/tlog/src/index.js';
import { EVENT_ATTRIBUTE } from '../../../src/domain/ledger/search-attributes.js';
import { apiClient } from '../../support/api-client.js';
import { executionOf, workflowIdOf } from '../../support/history.js';
import { type MongodbProxy, startMongodbProxy } from '../../support/outside/mongodb-proxy.js';
import { readAll } from '../../support/parts/pages.js';
import { recorded, startRecords } from '../../support/parts/records.js';
import { StoredRows, verifyRecords } from '../../support/parts/stored-rows.js';
import { type ServiceProcess, startServiceProcess } from '../../support/programs/process.js';
import { type Receiver, startReceiver } from '../../support/receiver.js';
import { newAccount, ONE_BY_ONE, startSystem, type TestSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

/**
 * The collection that a process writes to when it is frozen, and the outcome when it has gone on: requests that the
 * receiver gets, whether the record says that there may be more than its one attempt, and segments that name it.
 */
const STEPS = [
  { step: 'keeps a row', writes: 'deliveries', requests: 2, isAtLeast: true, segments: 1 },
  // The row is there, so nothing is attempted again; the other process makes a segment for it, and this one its own.
  { step: 'makes a segment', writes: 'segments', requests: 1, isAtLeast: false, segments: 2 },
  { step: 'appends a leaf', writes: 'log_tiles', requests: 1, isAtLeast: false, segments: 1 },
] as const;

/**
 * For a minute Temporal hands tasks to a frozen process, which it takes to be asking for them; each is lost some ten
 * seconds later. Milliseconds.
 */
const LIMIT_MS = 240_000;

/** The process reaches MongoDB through a proxy, which holds its write. The other one is started when it is frozen. */
describe('a process that is frozen for longer than others take it for alive [world]', () => {
  let apart: TestSystem;
  let mongodb: MongodbProxy;
  let frozen: ServiceProcess;
  let other: ServiceProcess | undefined;
  let receiver: Receiver;
  let connection: Connection;
  let stored: StoredRows;

  before(async () => {
    const short = { HOOKLINE_TEST_TIME_SCALE: '0.4', HOOKLINE_ATTEMPT_TIMEOUT: '5s' };
    apart = await startSystem({ ...short, ...ONE_BY_ONE }, 'api');
    const { MONGODB_URI: uri = '' } = apart.environment;
    connection = await mongoose.createConnection(uri).asPromise();
    stored = new StoredRows(connection);
    mongodb = await startMongodbProxy(uri);
    receiver = await startReceiver();
    frozen = await startServiceProcess({ ...apart.environment, MONGODB_URI: mongodb.uri });
    await until(
      async () => (await fetch(`${frozen.url}/readyz`)).text(),
      (text) => /"events":"ok"/.test(text),
    );
  });
  afterEach(async () => {
    mongodb.heal();
    process.kill(frozen.pid, 'SIGCONT');
    await other?.kill();
  });
  after(async () => {
    await frozen.kill();
    await connection.close();
    await apart.stop();
    mongodb.close();
    await receiver.close();
  });

  /** Holds the next write of a collection. Resolves when there is one. */
  const holdNext = (writes: string) =>
    new Promise<void>((resolve) =>
      mongodb.rule(({ isWrite, collection }) => {
        if (!isWrite || collection !== writes) return 'pass';
        mongodb.rule(() => 'pass');
        resolve();
        return 'hold';
      }),
    );
  const segmentsOf = (id: string) => stored.segments.countDocuments({ records: `${id}/1` });
  async function leavesOf(record: string): Promise<number> {
    const leaf = leafHash(record);
    return (await apart.database.log.leavesFrom(0)).filter((one) => one.equals(leaf)).length;
  }

  for (const { step, writes, requests, isAtLeast, segments } of STEPS)
    it(`when it ${step} leaves one execution, one row and one leaf`, async function () {
      this.timeout(LIMIT_MS);
      const client = await newAccount(apart.database, apart.url);
      const atFrozen = apiClient(frozen.url, client);
      await client.register(`${receiver.url}/${writes}`);
      const isHeld = holdNext(writes);
      const event = await atFrozen.purchase();
      const id = event.deliveries[0]?.id ?? '';
      const isDelivered = ({ status }: { status: string }) => status === 'delivered';
      const execution = await executionOf(apart, workflowIdOf(client, id));
      const keeping = async () => {
        await client.deliveryUntil(id, isDelivered);
        await execution.result();
        return startRecords(apart);
      };
      const run = writes === 'log_tiles' ? await keeping() : execution;
      await isHeld;
      process.kill(frozen.pid, 'SIGSTOP');
      const stopped = performance.now();

      other = await startServiceProcess(apart.environment);
      await run.result();
      const before = await client.deliveryUntil(id, isDelivered);
      const { starter_dead_ms } = apart.settings.HOOKLINE_TEST_TIME_SCALE;
      await until(
        () => performance.now() - stopped,
        (ms) => ms > starter_dead_ms,
      );
      process.kill(frozen.pid, 'SIGCONT');
      mongodb.heal();

      await until(
        () => segmentsOf(id),
        (count) => count === segments,
      );
      // It works on.
      const later = (await atFrozen.purchase()).deliveries[0]?.id ?? '';
      await client.deliveryUntil(later, isDelivered);
      await recorded(apart, client, [id, later]);
      assert.deepEqual(await client.delivery(id), before);
      assert.deepEqual(
        before.attempts.map(({ status_code, lost_tries = 0 }) => [status_code, lost_tries > 0]),
        [[200, isAtLeast]],
      );
      assert.equal((await readAll(client, '/v18.0/deliveries')).length, 2);
      const sent = receiver.received.filter(({ headers }) => headers['webhook-id'] === event.id);
      assert.equal(sent.length, requests);
      const { workflow } = apart.temporal.client;
      assert.equal((await workflow.count(`${EVENT_ATTRIBUTE.name} = '${event.id}'`)).count, 1);
      assert.equal((await execution.describe()).runId, before.run_id);
      const row = await stored.copyOf(id);
      assert.deepEqual([row['revision'], await leavesOf(String(row['record']))], [1, 1]);
      assert.equal(await segmentsOf(id), segments);
      assert.deepEqual((await verifyRecords(apart)).found, {});
    });
});
