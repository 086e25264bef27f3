import assert from 'node:assert/strict';
import { connectDatabase, type Database } from '../../../src/models/database.js';
import { type ApiClient, apiClient, PURCHASE } from '../../support/api-client.js';
import { type ServiceProcess, startServiceProcess } from '../../support/programs/process.js';
import { neverAnswer, type Receiver, reply, startReceiver } from '../../support/receiver.js';
import { newAccount, startSystem, testEnvironment } from '../../support/system.js';
import { until } from '../../support/until.js';

describe('a process of the service', () => {
  let environment: Record<string, string>;
  let database: Database;
  let receiver: Receiver;
  let service: ServiceProcess;
  let client: ApiClient;
  const started: ServiceProcess[] = [];

  // A test leaves a process that runs to the next one.
  before(async () => {
    environment = await testEnvironment({
      HOOKLINE_RETRY_SCHEDULE: '100ms,100ms',
      HOOKLINE_ATTEMPT_TIMEOUT: '5s',
    });
    database = await connectDatabase(environment['MONGODB_URI'] ?? '');
    service = await start();
  });
  beforeEach(async () => {
    receiver = await startReceiver();
    client = await newAccount(database, service.url);
  });
  afterEach(() => receiver.close());
  after(async () => {
    await Promise.all(started.map((one) => one.kill()));
    await database.close();
  });

  async function start(): Promise<ServiceProcess> {
    const one = await startServiceProcess(environment);
    started.push(one);
    return one;
  }
  const at = (one: ServiceProcess, by = client) => apiClient(one.url, by);
  const sentTo = (path: string) => receiver.received.filter((one) => one.path === path);

  /** A delivery of another account whose first attempt has failed, and that waits so long. */
  async function failedOnce(wait: string): Promise<{ id: string; by: ApiClient }> {
    const by = await newAccount(database, service.url);
    await by.register(`${receiver.url}/fails`, { retry_schedule: [wait] });
    const id = (await by.purchase()).deliveries[0]?.id ?? '';
    await by.deliveryUntil(id, ({ status }) => status === 'retrying');
    return { id, by };
  }

  it('is killed while an attempt is under way and a retry is due, starts again, and both are made', async () => {
    receiver.handle(reply(500));
    const { id: retried, by: other } = await failedOnce('15s');
    receiver.handle(neverAnswer);
    await client.register(`${receiver.url}/hangs`);
    const event = await client.purchase();
    await receiver.waitFor(() => sentTo('/hangs').length === 1);
    await service.kill();
    receiver.handle(reply(200));

    service = await start();
    const delivery = await at(service).deliveryUntil(
      event.deliveries[0]?.id ?? '',
      ({ status }) => status === 'delivered',
    );
    assert.equal(delivery.attempts.at(-1)?.status_code, 200);
    // The attempt that was under way is the only one that came twice, and its record says so.
    assert.equal(sentTo('/hangs').length, 2);
    assert.deepEqual(
      delivery.attempts.map(({ lost_tries }) => lost_tries),
      [1],
    );
    for (const { headers, body } of sentTo('/hangs')) {
      assert.equal(headers['webhook-id'], event.id);
      assert.equal(body.toString(), PURCHASE);
    }
    const { attempts } = await at(service, other).deliveryUntil(
      retried,
      ({ status }) => status === 'delivered',
    );
    assert.deepEqual(
      attempts.map(({ status_code }) => status_code),
      [500, 200],
    );
    assert.equal(sentTo('/fails').length, 2);
  });

  it('asked to stop, finishes a first attempt and a retry in flight, records them, and exits with 0', async () => {
    receiver.handle(reply(500));
    const { id: retried, by: other } = await failedOnce('1h');
    const answers: (() => void)[] = [];
    receiver.handle((_request, response) => void answers.push(() => response.writeHead(200).end()));
    await other.request('POST', `/v18.0/deliveries/${retried}/retry`);
    await client.register(`${receiver.url}/first`);
    const event = await client.purchase();
    await until(
      () => answers,
      ({ length }) => length === 2,
    );
    service.terminate();
    await untilLine(service, 'stopping');
    for (const answer of answers) answer();
    assert.equal(await service.exited, 0, service.lines.join('\n'));
    assert.ok(service.lines.some((line) => line.includes('"msg":"stopped"')));

    service = await start();
    const delivery = await at(service).delivery(event.deliveries[0]?.id ?? '');
    assert.equal(delivery.status, 'delivered');
    assert.equal(delivery.attempts.length, 1);
    assert.equal(sentTo('/first').length, 1);
    const { attempts } = await at(service, other).deliveryUntil(
      retried,
      ({ status }) => status === 'delivered',
    );
    assert.equal(attempts.length, 2);
    assert.equal(sentTo('/fails').length, 2);
  });

  describe('with an idempotency key', () => {
    const post = (to: ApiClient, key: string, raw = PURCHASE) =>
      to.request('POST', '/v18.0/events/purchase', { raw, headers: { 'idempotency-key': key } });

    it('posted 50 times in parallel to two processes starts one delivery, and gives 50 equal answers', async () => {
      await client.register(receiver.url);
      const other = await startSystem(environment, 'api');
      const second = apiClient(other.url, client);
      const answers = await Promise.all(
        Array.from({ length: 50 }, (_, index) => post(index % 2 ? client : second, 'order-1')),
      );
      assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([202]));
      assert.equal(new Set(answers.map(({ text }) => text)).size, 1);
      const { id, deliveries } = answers[0]?.json ?? {};
      assert.equal(deliveries.length, 1);
      await client.deliveryUntil(deliveries[0].id, ({ status }) => status === 'delivered');
      assert.equal(receiver.received.length, 1);

      const again = await post(second, 'order-1');
      assert.equal(again.json.id, id);
      assert.equal(receiver.received.length, 1);
      await other.stop();
    });

    it('and another body is refused', async () => {
      await client.register(receiver.url);
      assert.equal((await post(client, 'order-2')).status, 202);
      const other = await post(client, 'order-2', `${PURCHASE} `);
      assert.equal(other.status, 409);
      assert.equal(other.json.code, 'idempotency_conflict');
    });

    it('of another account starts a delivery of its own', async () => {
      await client.register(receiver.url);
      const other = await newAccount(database, service.url);
      const [mine, theirs] = await Promise.all([post(client, 'order-3'), post(other, 'order-3')]);
      assert.deepEqual([mine.status, theirs.status], [202, 202], theirs.text);
      assert.notEqual(mine.json.id, theirs.json.id);
    });
  });
});

async function untilLine(service: ServiceProcess, text: string): Promise<void> {
  await until(
    () => service.lines,
    (lines) => lines.some((line) => line.includes(text)),
  );
}
