import assert from 'node:assert/strict';
import { connectDatabase } from '../../../src/models/database.js';
import { apiClient } from '../../support/api-client.js';
import { startMongodbProxy } from '../../support/outside/mongodb-proxy.js';
import { startServiceProcess } from '../../support/programs/process.js';
import { newAccount, SHORT_WAITS, testEnvironment } from '../../support/system.js';
import { until } from '../../support/until.js';

describe('the feed under faults [world]', () => {
  it('has an event of a process that was frozen between naming and storing it, behind what was read meanwhile', async () => {
    const environment = await testEnvironment(SHORT_WAITS);
    const proxy = await startMongodbProxy(environment['MONGODB_URI'] ?? '');
    const database = await connectDatabase(environment['MONGODB_URI'] ?? '');
    const [frozen, other] = await Promise.all([
      startServiceProcess({ ...environment, MONGODB_URI: proxy.uri }),
      startServiceProcess(environment),
    ]);
    const client = await newAccount(database, other.url);
    const seen: string[] = [];
    let after = '';
    const read = async () => {
      const { json, text, status } = await client.request('GET', `/v18.0/feed${after && `?after=${after}`}`);
      assert.equal(status, 200, text);
      for (const { id, position } of json.data) {
        assert.ok(position > after);
        after = position;
        seen.push(id);
      }
      after = json.paging.cursors.after || after;
      return seen;
    };
    const isHeld = new Promise<void>((resolve) =>
      proxy.rule(({ has }) => {
        if (!has('event_kind') || !has(client.accountId)) return 'pass';
        proxy.rule(() => 'pass');
        resolve();
        return 'hold';
      }),
    );
    const late = apiClient(frozen.url, client).purchase();
    await isHeld;
    process.kill(frozen.pid, 'SIGSTOP');
    const stopped = performance.now();
    const early = await client.purchase();
    // As long as others wait for it, so does the feed.
    const soon = [...(await read())];
    // A slow machine may have taken it for dead by now.
    if (performance.now() - stopped < 1_500) assert.deepEqual(soon, []);
    await until(read, (all) => all.includes(early.id));
    assert.deepEqual(seen, [early.id]);
    process.kill(frozen.pid, 'SIGCONT');
    proxy.heal();
    const { id } = await late;
    assert.ok(id < early.id);
    // It was answered, so it has its place.
    await until(read, (all) => all.includes(id));
    assert.deepEqual(seen, [early.id, id]);
    const { json } = await client.request('GET', '/v18.0/feed');
    assert.deepEqual(
      json.data.map((one: { id: string }) => one.id),
      [early.id, id],
    );
    await Promise.all([frozen.kill(), other.kill()]);
    await database.close();
    proxy.close();
  });
});
