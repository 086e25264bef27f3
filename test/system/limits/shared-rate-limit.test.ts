import assert from 'node:assert/strict';
import { connectDatabase, type Database } from '../../../src/models/database.js';
import { type ApiClient, apiClient } from '../../support/api-client.js';
import { type ServiceProcess, startServiceProcess } from '../../support/programs/process.js';
import { newAccount, testEnvironment } from '../../support/system.js';
import { until } from '../../support/until.js';

const LIMIT = 400;

describe('the event limit of an account', () => {
  // It starts three processes one after another.
  let environment: Record<string, string>;
  let database: Database;
  const started: ServiceProcess[] = [];

  before(async () => {
    environment = await testEnvironment({
      HOOKLINE_RATE_LIMIT_ACCOUNT: `${LIMIT}/1d`,
      HOOKLINE_RATE_LIMIT_STORE: 'mongodb',
    });
    database = await connectDatabase(environment['MONGODB_URI'] ?? '');
  });
  after(async () => {
    for (const one of started) await one.kill();
    await database.close();
  });

  async function start(): Promise<ServiceProcess> {
    const one = await startServiceProcess(environment);
    started.push(one);
    return one;
  }
  /** An event that is counted and does nothing else. */
  const post = async (client: ApiClient) =>
    (await client.request('POST', '/v18.0/events/purchase', { raw: 'no purchase' })).status;
  const told = async () => {
    const windows = await database.rateWindows.open(Date.now());
    const counts = windows.flatMap(({ columns }) => Object.values(columns['counts'] ?? {}));
    return counts.reduce((sum, count) => sum + count, 0);
  };

  it('is one for all processes, and outlives them', async () => {
    const [first, second] = await Promise.all([start(), start()]);
    const client = await newAccount(database, first.url);
    const passed: number[] = [];
    const postUntilRefused = async (to: ApiClient) => {
      for (;;) {
        const status = await post(to);
        if (status === 429) return;
        assert.equal(status, 400);
        passed.push(performance.now());
      }
    };
    const clients = [client, apiClient(second.url, client)];
    await Promise.all(clients.map(postUntilRefused));
    assert.ok(passed.length >= LIMIT, `${passed.length} passed`);
    // Alone, each would have let all of them pass.
    assert.ok(passed.length < 2 * LIMIT, `${passed.length} passed`);

    await until(told, (count) => count === passed.length);
    for (const one of started) await one.kill();
    const third = await start();
    assert.equal(await post(apiClient(third.url, client)), 429);
  });
});
