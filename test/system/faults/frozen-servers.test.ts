import assert from 'node:assert/strict';
import { pino } from 'pino';
import { connectDatabase } from '../../../src/models/database.js';
import { type ApiClient, PURCHASE } from '../../support/api-client.js';
import { type FreezingProxy, startFreezingProxy } from '../../support/outside/freezing-proxy.js';
import { type Receiver, startReceiver } from '../../support/receiver.js';
import { databaseIn, servers } from '../../support/servers.js';
import { newAccount, startSystem, type TestSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

const ENDPOINT = JSON.stringify({ target_url: 'https://subscriber.example/', event_kinds: ['*'] });
/**
 * Within which every answer comes here, milliseconds: a request ends after eight seconds, and the rest is for a machine
 * that is busy. Two such limits, one after the other, take longer.
 */
const LIMIT_MS = 14_000;

interface Answer {
  request: string;
  status: number;
  retryAfter: string | undefined;
  detail: string;
  ms: number;
}

describe('a server that accepts and stays silent [world]', () => {
  let system: TestSystem;
  let temporal: FreezingProxy;
  let mongodb: FreezingProxy;
  let client: ApiClient;
  let receiver: Receiver;
  let delivery: string;
  const log: { level: number; msg: string }[] = [];

  beforeEach(async () => {
    log.length = 0;
    const { temporalAddress, mongodbUri } = servers();
    temporal = await startFreezingProxy(temporalAddress);
    mongodb = await startFreezingProxy(new URL(mongodbUri).host);
    receiver = await startReceiver();
    const name = `frozen${Date.now()}`;
    const logger = pino({ level: 'info' }, { write: (line: string) => void log.push(JSON.parse(line)) });
    system = await startSystem(
      { TEMPORAL_ADDRESS: temporal.address, MONGODB_URI: `mongodb://${mongodb.address}/${name}` },
      'all',
      logger,
    );
    const database = await connectDatabase(databaseIn(mongodbUri, name));
    client = await newAccount(database, system.url);
    await database.close();
    await client.register(receiver.url);
    delivery = (await client.purchase()).deliveries[0]?.id ?? '';
  });
  afterEach(async () => {
    temporal.thaw();
    mongodb.thaw();
    await system.stop();
    await temporal.close();
    await mongodb.close();
    await receiver.close();
  });

  async function ask(method: string, path: string, headers: Record<string, string> = {}): Promise<Answer> {
    const began = performance.now();
    const response = await fetch(`${system.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${client.key}`, 'content-type': 'application/json', ...headers },
      ...(method === 'POST' && {
        body: path.includes('/events') ? PURCHASE : ENDPOINT,
      }),
    });
    const text = await response.text();
    const ms = performance.now() - began;
    const detail = response.status >= 400 ? String(JSON.parse(text).detail) : '';
    const retryAfter = response.headers.get('retry-after') ?? undefined;
    return { request: `${method} ${path}`, status: response.status, retryAfter, detail, ms };
  }

  const ready = async () => {
    const answer = (await (await fetch(`${system.url}/readyz`)).json()) as { checks: Record<string, string> };
    return answer.checks;
  };

  const askEverything = () =>
    Promise.all([
      ask('POST', '/v18.0/events/purchase'),
      ask('POST', '/v18.0/events/purchase', { 'idempotency-key': 'order-1' }),
      ask('GET', '/v18.0/events'),
      ask('GET', '/v18.0/deliveries'),
      ask('GET', `/v18.0/deliveries/${encodeURIComponent(delivery)}`),
      ask('POST', '/v18.0/endpoints'),
      ask('GET', '/v18.0/endpoints'),
      ask('GET', '/v18.0/event_kinds'),
      ask('GET', '/v18.0/me'),
    ]);

  function checkAnswers(answers: readonly Answer[], needed: RegExp): void {
    for (const answer of answers) {
      const shown = JSON.stringify(answer);
      assert.ok(answer.ms < LIMIT_MS, shown);
      if (needed.test(answer.request)) assert.equal(answer.status, 503, shown);
      if (answer.status < 400) continue;
      assert.equal(answer.status, 503, shown);
      assert.equal(answer.retryAfter, '2', shown);
      if (answer.request.startsWith('POST /v18.0/events')) {
        const advice = /(: send it again with the same Idempotency-Key|: sent again, it is another event)\./;
        assert.match(answer.detail, /not known whether the event was accepted/, shown);
        assert.match(answer.detail, advice, shown);
      }
    }
  }

  const outageLines = () => log.filter(({ msg }) => / does not respond, or refuses: /.test(msg));

  it('Temporal: every answer comes within 10 s, and it is answered as before when Temporal goes on', async () => {
    temporal.freeze();
    const answers = await askEverything();
    checkAnswers(answers, /^$/);
    // Events and deliveries are documents.
    const failed = answers.filter(({ status }) => status >= 400);
    assert.deepEqual(
      failed.filter(({ request }) => !request.startsWith('POST /v18.0/endpoints')),
      [],
    );
    assert.equal((await ready())['temporal'], 'unavailable');
    await until(outageLines, (lines) => lines.length === 1);

    temporal.thaw();
    await until(
      () => ask('POST', '/v18.0/events/purchase'),
      ({ status }) => status === 202,
    );
    await until(
      () => log,
      (lines) => lines.some(({ msg }) => msg === 'Temporal responds again'),
    );
    assert.equal(outageLines().length, 1, 'one line for the outage');
    assert.ok(!log.some((line) => JSON.stringify(line).includes('"stack"')), 'no stacks');
  });

  it('MongoDB: every answer comes within 10 s, and it is answered as before when MongoDB goes on', async () => {
    // What is remembered for moments is answered without MongoDB.
    mongodb.freeze();
    checkAnswers(await askEverything(), /POST .*endpoints/);
    checkAnswers(await askEverything(), /./);
    assert.equal((await ready())['mongodb'], 'unavailable');

    mongodb.thaw();
    await until(
      () => ask('GET', '/v18.0/endpoints'),
      ({ status }) => status === 200,
    );
    await until(
      () => ask('POST', '/v18.0/events/purchase'),
      ({ status }) => status === 202,
    );
    assert.equal(outageLines().length, 1, 'one line for the outage');
    assert.ok(!log.some((line) => JSON.stringify(line).includes('"stack"')), 'no stacks');
  });

  it('Temporal: killed and back after 3 s, nobody notices', async () => {
    await temporal.cut();
    const answers = askEverything();
    const back = setTimeout(() => void temporal.restore(), 3_000);
    try {
      const failed = (await answers).filter(({ status }) => status >= 400);
      assert.deepEqual(failed, [], JSON.stringify(log.filter(({ level }) => level >= 50)));
    } finally {
      clearTimeout(back);
    }
  });

  it('MongoDB: killed and back after 2 s, nobody notices', async () => {
    await mongodb.cut();
    const answers = askEverything();
    const back = setTimeout(() => void mongodb.restore(), 2_000);
    try {
      const failed = (await answers).filter(({ status }) => status >= 400);
      assert.deepEqual(failed, [], JSON.stringify(log.filter(({ level }) => level >= 50)));
    } finally {
      clearTimeout(back);
    }
  });
});
