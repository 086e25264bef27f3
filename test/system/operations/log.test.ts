import assert from 'node:assert/strict';
import { connectDatabase, type Database } from '../../../src/models/database.js';
import { type ApiClient, PURCHASE } from '../../support/api-client.js';
import { type ServiceProcess, startServiceProcess } from '../../support/programs/process.js';
import { type Receiver, startReceiver } from '../../support/receiver.js';
import { newAccount, testEnvironment } from '../../support/system.js';

describe('the log', () => {
  let database: Database;
  let receiver: Receiver;
  let service: ServiceProcess;
  let client: ApiClient;

  before(async () => {
    const environment = await testEnvironment({ HOOKLINE_RETRY_SCHEDULE: '20ms' });
    // An endpoint that sends back what it was sent, as debugging tools do, and never succeeds.
    receiver = await startReceiver({
      handler: (_request, response, body) => void response.writeHead(500).end(body),
    });
    database = await connectDatabase(environment['MONGODB_URI'] ?? '');
    service = await startServiceProcess(environment);
    client = await newAccount(database, service.url);
  });
  after(async () => {
    await service.kill();
    await database.close();
    await receiver.close();
  });

  it('has no warnings in normal operation, even for full groups', async () => {
    const healthy = await startReceiver();
    try {
      const account = await newAccount(database, service.url);
      await account.register(healthy.url);
      await Promise.all(Array.from({ length: 120 }, () => account.purchase()));
      await healthy.waitFor((all) => all.length >= 120);
    } finally {
      await healthy.close();
    }
    const noisy = service.lines.filter((line) => /"level":"(warn|error|fatal)"/.test(line));
    assert.deepEqual(noisy, []);
  });

  it('holds no token, secret, payload or address of a customer, and names every request', async () => {
    const { secret } = await client.register(`${receiver.url}/hook?token=of-the-subscriber`);
    const event = await client.purchase();
    await client.deliveryUntil(event.deliveries[0]?.id ?? '', ({ status }) => status === 'exhausted');
    await fetch(`${service.url}/v18.0/events/${event.id}?access_token=${client.key}`);
    await fetch(`${service.url}/v18.0/events?limit=x&access_token=${client.key}`);
    await client.request('POST', '/v18.0/events/purchase', { raw: PURCHASE.replace('12.5', '"ada@x.org"') });
    await client.request('POST', '/v18.0/events/purchase', { raw: `${PURCHASE}ada@x.org` });
    const mistyped = await client.request('GET', '/v18.0/events', {
      headers: { authorization: `Bearer ${client.key}x` },
    });
    assert.equal(mistyped.status, 401);
    service.terminate();
    assert.equal(await service.exited, 0);

    const requests = service.lines.filter((line) => line.includes('"msg":"request"'));
    assert.ok(requests.length >= 7);
    for (const line of requests) assert.match(line, /"level":"(info|warn)"/);
    assert.ok(requests.every((line) => /"request_id":"req_/.test(line)));
    const log = service.lines.join('\n');
    for (const [what, text] of Object.entries({
      'the API key': client.key.slice(4, 24),
      'the signing secret': secret.slice(6, 26),
      'an e-mail address': 'ada@',
      'the payload': 'order-1',
      'the token in a target URL': 'of-the-subscriber',
      'the name of a parameter for tokens': 'access_token',
    })) {
      const line = service.lines.find((one) => one.includes(text));
      assert.ok(!log.includes(text), `${what} stands in the log: ${line?.slice(0, 300)}`);
    }
  });
});
