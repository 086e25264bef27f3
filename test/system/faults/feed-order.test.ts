import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { connectDatabase } from '../../../src/models/database.js';
import { apiClient } from '../../support/api-client.js';
import { startServiceProcess } from '../../support/programs/process.js';
import { newAccount, SHORT_WAITS, testEnvironment } from '../../support/system.js';
import { until } from '../../support/until.js';

/** A proxy before MongoDB that holds one request: the first that has some texts. */
async function holdOne(uri: string) {
  const target = new URL(uri);
  const mongodb = { host: target.hostname, port: Number(target.port) };
  let held: { texts: string[]; onHeld: () => void } | undefined;
  const server = createServer((client) => {
    const upstream = connect(mongodb);
    client.on('data', (chunk) => {
      if (held?.texts.every((text) => chunk.includes(text))) {
        held.onHeld();
        held = undefined;
        client.pause();
        release = () => {
          upstream.write(chunk);
          client.resume();
        };
      } else upstream.write(chunk);
    });
    upstream.on('data', (chunk) => client.write(chunk));
    for (const socket of [client, upstream]) socket.on('error', () => {});
    client.on('close', () => upstream.destroy());
    upstream.on('close', () => client.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  let release = () => {};
  target.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    uri: target.href,
    hold: (...texts: string[]) => new Promise<void>((onHeld) => (held = { texts, onHeld })),
    release: () => release(),
    close: () => server.close(),
  };
}

describe('the feed under faults [world]', () => {
  it('has an event of a process that was frozen between naming and storing it, behind what was read meanwhile', async () => {
    const environment = await testEnvironment(SHORT_WAITS);
    const proxy = await holdOne(environment['MONGODB_URI'] ?? '');
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
    const isHeld = proxy.hold('event_kind', client.accountId);
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
    proxy.release();
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
