import assert from 'node:assert/strict';
import { newId } from '../../../src/domain/basics/ids.js';
import { connectDatabase, type Database } from '../../../src/models/database.js';
import { type ApiClient, apiClient, PURCHASE } from '../../support/api-client.js';
import { type ServiceProcess, startServiceProcess } from '../../support/programs/process.js';
import { neverAnswer, type Receiver, reply, startReceiver } from '../../support/receiver.js';
import { newAccount, testEnvironment } from '../../support/system.js';
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
  const at = (one: ServiceProcess) => apiClient(one.url, client);

  it('is killed between accepted and delivered, starts again, and the event is delivered', async () => {
    receiver.handle(neverAnswer);
    await client.register(receiver.url);
    const event = await client.purchase();
    await receiver.waitFor((all) => all.length === 1);
    await service.kill();
    receiver.handle(reply(200));

    service = await start();
    const delivery = await at(service).deliveryUntil(
      event.deliveries[0]?.id ?? '',
      ({ status }) => status === 'delivered',
    );
    assert.equal(delivery.attempts.at(-1)?.status_code, 200);
    // The attempt that was under way is the only one that came twice, and its record says so.
    assert.equal(receiver.received.length, 2);
    assert.deepEqual(
      delivery.attempts.map(({ lost_tries }) => lost_tries),
      [1],
    );
    for (const { headers, body } of receiver.received) {
      assert.equal(headers['webhook-id'], event.id);
      assert.equal(body.toString(), PURCHASE);
    }
  });

  it('is killed while a retry is due, starts again, and the retry is made', async () => {
    receiver.handle(reply(500));
    await client.register(receiver.url, { retry_schedule: ['2s'] });
    const event = await client.purchase();
    const id = event.deliveries[0]?.id ?? '';
    await client.deliveryUntil(id, ({ status }) => status === 'retrying');
    await service.kill();
    receiver.handle(reply(200));
    service = await start();
    const delivery = await at(service).deliveryUntil(id, ({ status }) => status === 'delivered');
    assert.deepEqual(
      delivery.attempts.map(({ status_code }) => status_code),
      [500, 200],
    );
    assert.equal(receiver.received.length, 2);
  });

  it('asked to stop, finishes the attempt in flight, records it, and exits with 0', async () => {
    let answer = () => {};
    const held = new Promise<void>((resolve) => {
      receiver.handle((_request, response) => {
        answer = () => void response.writeHead(200).end();
        resolve();
      });
    });
    await client.register(receiver.url);
    const event = await client.purchase();
    await held;
    service.terminate();
    await untilLine(service, 'stopping');
    answer();
    assert.equal(await service.exited, 0, service.lines.join('\n'));
    assert.ok(service.lines.some((line) => line.includes('"msg":"stopped"')));

    service = await start();
    const delivery = await at(service).delivery(event.deliveries[0]?.id ?? '');
    assert.equal(delivery.status, 'delivered');
    assert.equal(delivery.attempts.length, 1);
    assert.equal(receiver.received.length, 1);
  });

  it('asked to stop, finishes a retry in flight, and records it', async () => {
    let answer = () => {};
    receiver.handle(reply(500));
    await client.register(receiver.url, { retry_schedule: ['1h'] });
    const event = await client.purchase();
    const id = event.deliveries[0]?.id ?? '';
    await client.deliveryUntil(id, ({ status }) => status === 'retrying');
    const held = new Promise<void>((resolve) => {
      receiver.handle((_request, response) => {
        answer = () => void response.writeHead(200).end();
        resolve();
      });
    });
    await client.request('POST', `/v18.0/deliveries/${id}/retry`);
    await held;
    service.terminate();
    await untilLine(service, 'stopping');
    answer();
    assert.equal(await service.exited, 0, service.lines.join('\n'));

    service = await start();
    const delivery = await at(service).deliveryUntil(id, ({ status }) => status === 'delivered');
    assert.equal(delivery.attempts.length, 2);
    assert.equal(receiver.received.length, 2);
  });

  describe('with an idempotency key', () => {
    const post = (to: ApiClient, key: string, raw = PURCHASE) =>
      to.request('POST', '/v18.0/events/purchase', { raw, headers: { 'idempotency-key': key } });

    it('posted 50 times in parallel to two processes starts one delivery, and gives 50 equal answers', async () => {
      await client.register(receiver.url);
      const second = at(await start());
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

    it('that a crash left without its deliveries starts them when it is repeated', async () => {
      const endpoint = await client.register(receiver.url);
      const now = Date.now();
      const fresh = {
        event_id: newId('event', now),
        targets: [{ endpoint_id: endpoint.id }],
        accepted_at: new Date(now).toISOString(),
        sequence: 1,
        body_hash: '',
      };
      // The hash is salted; another request with the same body has the same.
      assert.equal((await post(client, 'order-4-before')).status, 202);
      const { record } = await database.idempotency.claim(client.accountId, 'order-4-before', fresh);
      const claimed = { ...fresh, body_hash: record.body_hash };
      // What a process leaves behind that was killed between the claim and the start.
      await database.idempotency.claim(client.accountId, 'order-4', claimed);
      const answer = await post(client, 'order-4');
      assert.equal(answer.status, 202);
      assert.equal(answer.json.id, claimed.event_id);
      assert.equal(answer.json.created_at, claimed.accepted_at);
      await client.deliveryUntil(answer.json.deliveries[0].id, ({ status }) => status === 'delivered');
      assert.ok(receiver.received.some(({ headers }) => headers['webhook-id'] === claimed.event_id));
    });
  });
});

async function untilLine(service: ServiceProcess, text: string): Promise<void> {
  await until(
    () => service.lines,
    (lines) => lines.some((line) => line.includes(text)),
  );
}
