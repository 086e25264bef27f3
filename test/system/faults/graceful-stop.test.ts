import assert from 'node:assert/strict';
import { Client } from 'undici';
import { connectDatabase } from '../../../src/models/database.js';
import { PURCHASE } from '../../support/api-client.js';
import { startServiceProcess } from '../../support/programs/process.js';
import { startReceiver } from '../../support/receiver.js';
import { newAccount, testEnvironment } from '../../support/system.js';
import { until } from '../../support/until.js';

/** Producers that send one event after the other on connections that they keep. */
const PRODUCERS = 8;
/** The service is told to stop when so many have been accepted. */
const STOPPED_AFTER = 100;

describe('a service that is asked to stop [world]', () => {
  it('ends though its clients go on, and has made every delivery that it accepted, once', async () => {
    const environment = await testEnvironment();
    const database = await connectDatabase(environment['MONGODB_URI'] ?? '');
    const receiver = await startReceiver();
    const service = await startServiceProcess(environment);
    const client = await newAccount(database, service.url);
    await client.register(receiver.url);

    const accepted: string[] = [];
    const produce = async () => {
      const connection = new Client(service.url);
      const headers = { authorization: `Bearer ${client.key}`, 'content-type': 'application/json' };
      for (;;) {
        const path = '/v18.0/events/purchase';
        const { statusCode, body } = await connection.request({
          ...{ method: 'POST', path, headers, body: PURCHASE },
        });
        const { id } = (await body.json()) as { id: string };
        if (statusCode === 202) accepted.push(id);
        if (accepted.length === STOPPED_AFTER) service.terminate();
      }
    };
    // Each goes on until it cannot connect any more.
    const refused = await Promise.allSettled(Array.from({ length: PRODUCERS }, produce));
    assert.equal(await service.exited, 0);

    assert.ok(refused.every(({ status }) => status === 'rejected'));
    const arrived = receiver.received.map(({ headers }) => headers['webhook-id'] ?? '');
    assert.equal(new Set(arrived).size, arrived.length, 'each once');
    assert.deepEqual(
      accepted.filter((id) => !arrived.includes(id)),
      [],
    );
    await receiver.close();
    await database.close();
  });

  it('says so at /readyz first, and still takes requests for a while, each with its connection', async () => {
    const environment = await testEnvironment({ HOOKLINE_DRAIN: '5s' });
    const database = await connectDatabase(environment['MONGODB_URI'] ?? '');
    const service = await startServiceProcess(environment);
    const client = await newAccount(database, service.url);
    const ready = async () => (await fetch(`${service.url}/readyz`)).json() as Promise<{ status: string }>;
    assert.notEqual((await ready()).status, 'stopping');
    service.terminate();
    await until(ready, ({ status }) => status === 'stopping');
    const { status, headers } = await client.request('POST', '/v18.0/events/purchase', { raw: PURCHASE });
    assert.deepEqual([status, headers.get('connection')], [202, 'close']);
    assert.equal(await service.exited, 0);
    await assert.rejects(ready);
    await database.close();
  });
});
