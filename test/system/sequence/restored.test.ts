import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { settleNumbers } from '../../../src/bin/service/sequence/settle-numbers.js';
import { LEAP } from '../../../src/domain/sequence/lost-numbers.js';
import { SEQUENCE } from '../../../src/domain/sequence/sequence.js';
import { type ApiClient, apiClient } from '../../support/api-client.js';
import { dump, restore } from '../../support/outside/dump.js';
import { forget, recorded, runRecords } from '../../support/parts/records.js';
import { runHere } from '../../support/programs/command.js';
import { type Receiver, reply, startReceiver } from '../../support/receiver.js';
import { startSystem, type TestSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

/** The copy has the account with one event, numbered 1; after it three more are accepted, and MongoDB is restored. */
describe('numbers of events after a restore of MongoDB', () => {
  let system: TestSystem;
  let receiver: Receiver;
  let folder: string;
  let client: ApiClient;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'hookline-restored-'));
    system = await startSystem({ HOOKLINE_LOG_COPY: join(folder, 'checkpoint') });
    client = await system.account();
  });
  afterEach(async () => {
    await system.stop();
    await receiver.close();
    await rm(folder, { recursive: true });
  });

  const post = async (): Promise<{ sequence: number; deliveries: { id: string }[] }> =>
    (await client.purchase()) as never;
  const uri = () => system.environment['MONGODB_URI'] ?? '';
  /** Begins with what the copy has. */
  const begin = async (status: number) => {
    receiver = await startReceiver({ handler: reply(status) });
    await client.register(receiver.url, { retry_schedule: ['1h'] });
    const first = await post();
    const settled = status === 200 ? 'delivered' : 'retrying';
    await client.deliveryUntil(first.deliveries[0]?.id ?? '', (one) => one.status === settled);
    if (status === 200) await recorded(system, client, [first.deliveries[0]?.id ?? '']);
    await dump(uri(), join(folder, 'dump'));
  };
  /** Accepts events of which the copy knows nothing. */
  const goOn = async (): Promise<number> => {
    const sent = [await post(), await post(), await post()];
    assert.deepEqual(
      sent.map(({ sequence }) => sequence),
      [2, 3, 4],
    );
    return Math.max(...sent.map(({ sequence }) => sequence));
  };
  /** Waits until the log has all deliveries, and has been signed. */
  const logAll = async () => {
    const { data } = (await client.request('GET', '/v18.0/deliveries')).json;
    const ids: string[] = data.map(({ id }: { id: string }) => id);
    const deliveries = await Promise.all(
      ids.map((id) => client.deliveryUntil(id, ({ status }) => status === 'delivered')),
    );
    await recorded(system, client, ids);
    await runRecords(system);
    return deliveries;
  };
  /** Puts the copy in MongoDB's place while nothing runs, and starts again. */
  const restored = async (overrides: Record<string, string> = {}) => {
    const { environment } = system;
    await system.stop();
    await restore(environment['MONGODB_URI'] ?? '', join(folder, 'dump'));
    system = await startSystem({ ...environment, ...overrides });
    client = apiClient(system.url, client);
  };
  const sequence = async () => (await client.request('GET', '/v18.0/sequence')).json;
  const isAbove = async (given: number, why: RegExp) => {
    const before = await sequence();
    assert.deepEqual([before.complete, before.lost[0]?.first], [false, 2], 'told before the next event, too');
    const { sequence: number } = await post();
    assert.ok(number > given + LEAP.least, `${number}`);
    assert.equal((await post()).sequence, number + 1, 'once');
    const { complete, lost, lost_count, missing_count, twice_count } = await sequence();
    assert.deepEqual([complete, missing_count, twice_count], [false, 0, 0]);
    assert.deepEqual(lost, [{ ...lost[0], first: 2, last: number - 1 }]);
    assert.equal(lost_count, number - 2);
    assert.match(lost[0]?.why, why);
    const environment = { HOOKLINE_URL: system.url, HOOKLINE_API_KEY: client.key };
    const output = await runHere('verify', environment, ['--complete']).catch(
      ({ stdout, code }: { stdout: string; code: number }) => `${code} ${stdout}`,
    );
    assert.match(output, /^1 Numbers 1 to \d+: .*\nlost {2}2 to \d+: MongoDB was restored: /s);
  };

  it('are above all that were given, though the log had nothing of their events: Temporal knows them', async () => {
    await begin(503);
    const given = await goOn();
    await restored();
    // What the copy says of blocks was so before the restore: which of their numbers events had, nobody knows.
    await sequence();
    await settleNumbers({ database: system.database }, Date.now() + SEQUENCE.settleAfterMs + 1_000_000);
    assert.equal((await sequence()).void_count, 0);
    await isAbove(given, /^MongoDB was restored: Temporal has group:|Temporal has dlv_/);
    await runRecords(system);
    const metrics = await (await fetch(`${system.url}/metrics`)).text();
    assert.match(metrics, /hookline_log_refusals_total\{reason="sequence_restored"\} 1\n/);
    // A process that starts later finds the same, which is known.
    const { sequence: last } = await post();
    const { environment } = system;
    await system.stop();
    system = await startSystem(environment);
    client = apiClient(system.url, client);
    assert.ok((await post()).sequence <= last + 2 * SEQUENCE.largestBlock);
  });

  it('are above them, if Temporal has forgotten their executions: it has the checkpoint [world]', async () => {
    await begin(200);
    const given = await goOn();
    await forget(system, await logAll());
    await restored();
    await isAbove(
      given,
      /^MongoDB was restored: a checkpoint of \d+ records was signed, and MongoDB has \d+$/,
    );
  });

  it('are above them, if Temporal was restored as well: the copy outside has the checkpoint [world]', async () => {
    await begin(200);
    const given = await goOn();
    await logAll();
    // Of another task queue Temporal has nothing.
    await restored({ HOOKLINE_TASK_QUEUE: `${system.environment['HOOKLINE_TASK_QUEUE']}x` });
    await isAbove(given, /^MongoDB was restored: a checkpoint of \d+ records was signed/);
  });

  it('are above them, if processes ran meanwhile: they look again and again [world]', async () => {
    await begin(503);
    await goOn();
    const { environment } = system;
    await system.stop();
    system = await startSystem({ ...environment, HOOKLINE_TEST_TIME_SCALE: '0.02' });
    client = apiClient(system.url, client);
    assert.deepEqual((await sequence()).lost, []);
    await restore(uri(), join(folder, 'dump'));
    const { lost } = await until(sequence, (told) => told.lost.length > 0);
    assert.equal(lost[0].first, 2);
    assert.match(lost[0].why, /^MongoDB was restored: Temporal has /);
  });

  it('go on as they were after a start without a restore, also while the copy cannot be read [world]', async () => {
    await begin(503);
    await goOn();
    const { environment } = system;
    await system.stop();
    system = await startSystem({ ...environment, HOOKLINE_LOG_COPY: 'http://127.0.0.1:9/checkpoint' });
    client = apiClient(system.url, client);
    assert.equal((await post()).sequence, 5);
    assert.deepEqual((await sequence()).lost, []);
  });
});
