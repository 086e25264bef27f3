import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { connectDatabase, type Database } from '../../../src/models/database.js';
import { apiClient, PURCHASE } from '../../support/api-client.js';
import { startFreezingProxy } from '../../support/outside/freezing-proxy.js';
import { ALL_SILENT, connectSilently } from '../../support/outside/silent-clients.js';
import { runHere } from '../../support/programs/command.js';
import { type ServiceProcess, startServiceProcess } from '../../support/programs/process.js';
import { promised } from '../../support/promised.js';
import { neverAnswer, startReceiver } from '../../support/receiver.js';
import { newAccount, testEnvironment } from '../../support/system.js';
import { until } from '../../support/until.js';

const CLIENTS = 20;
const DELIVERIES = 10;

/** Tells a service to stop. Where it has not ended by its own limit, it ends with an error that says so. */
async function stopped(service: ServiceProcess): Promise<void> {
  service.terminate();
  assert.equal(await service.exited, 0, service.lines.join('\n'));
}

describe('a service that is asked to stop while clients are silent', () => {
  let database: Database;
  let environment: Record<string, string>;
  before(async () => {
    // Clients that take no response are given up 3 s after an attempt would be.
    environment = await testEnvironment({ HOOKLINE_ATTEMPT_TIMEOUT: '5s' });
    await runHere('migrate', environment);
    database = await connectDatabase(environment['MONGODB_URI'] ?? '');
  });
  after(() => database.close());

  // The first one: others leave attempts that hang, which a worker takes up.
  it('ends as a worker, which serves its health alone', async () => {
    const worker = await startServiceProcess(environment, ['--role', 'worker']);
    const kinds = ['no request', 'part of a head', 'a request at rest'] as const;
    const sockets = await connectSilently({ url: worker.url, key: '' }, kinds);
    await stopped(worker);
    for (const socket of sockets) socket.destroy();
  });

  it('ends within the time that it promises, and repeats no attempt that was under way', async () => {
    const held = promised();
    const receiver = await startReceiver({
      handler: async (_request, response) => {
        await held.promise;
        response.end();
      },
    });
    const service = await startServiceProcess(environment);
    const client = await newAccount(database, service.url);
    await client.register(receiver.url);
    const kinds = Array.from(
      { length: CLIENTS },
      (_, at) => ALL_SILENT[at % ALL_SILENT.length] ?? 'no request',
    );
    const sockets = await connectSilently({ url: service.url, key: client.key }, kinds);
    const events = await Promise.all(Array.from({ length: DELIVERIES }, () => client.purchase(PURCHASE)));
    await receiver.waitFor((received) => received.length === DELIVERIES);

    service.terminate();
    held.resolve();
    assert.equal(await service.exited, 0, service.lines.join('\n'));

    // Whatever it had left undone, the next one would do.
    const next = await startServiceProcess(environment);
    const { delivery } = apiClient(next.url, client);
    for (const { deliveries } of events) {
      const { status, attempts } = await delivery(deliveries[0]?.id ?? '');
      assert.deepEqual([status, attempts.length], ['delivered', 1]);
    }
    await stopped(next);
    assert.equal(receiver.received.length, DELIVERIES);
    for (const socket of sockets) socket.destroy();
    await receiver.close();
  });

  it('ends in time also while its servers are silent, and says what it has left', async () => {
    const hosts = new URL(environment['MONGODB_URI'] ?? '').host;
    const [temporal, mongodb] = await Promise.all([
      startFreezingProxy(environment['TEMPORAL_ADDRESS'] ?? ''),
      startFreezingProxy(hosts),
    ]);
    const receiver = await startReceiver({ handler: neverAnswer });
    const service = await startServiceProcess({
      ...environment,
      TEMPORAL_ADDRESS: temporal.address,
      MONGODB_URI: (environment['MONGODB_URI'] ?? '').replace(hosts, mongodb.address),
    });
    const client = await newAccount(database, service.url);
    await client.register(receiver.url);
    await client.purchase(PURCHASE);
    await receiver.waitFor((received) => received.length === 1);
    temporal.freeze();
    mongodb.freeze();
    service.terminate();
    assert.equal(await service.exited, 1, service.lines.join('\n'));
    assert.match(
      service.lines.join('\n'),
      /^hookline: .* did not end within [\d.]+ s, and was left as it is\.$/m,
    );
    await Promise.all([temporal.close(), mongodb.close(), receiver.close()]);
  });

  it('has its time counted from the signal, also if it gets no processor time while it drains [world]', async () => {
    const settings = { HOOKLINE_DRAIN: '4s', HOOKLINE_ATTEMPT_TIMEOUT: '1s', HOOKLINE_LOG_LEVEL: 'info' };
    const hosts = new URL(environment['MONGODB_URI'] ?? '').host;
    const mongodb = await startFreezingProxy(hosts);
    const uri = (environment['MONGODB_URI'] ?? '').replace(hosts, mongodb.address);
    const service = await startServiceProcess({ ...environment, ...settings, MONGODB_URI: uri });
    service.terminate();
    const lines = () => service.lines.join('\n');
    await until(lines, (text) => text.includes('taking requests for 4s more'));
    mongodb.freeze();
    process.kill(service.pid, 'SIGSTOP');
    await delay(6_000);
    process.kill(service.pid, 'SIGCONT');
    await service.exited;
    // It drains for 4 s and stops within 6 s more; 2 s of these were over when it got processor time again.
    const [, left] = /The service did not end within ([\d.]+) s/.exec(lines()) ?? [];
    assert.ok(Number(left) <= 4, lines());
    await mongodb.close();
  });
});
