import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import mongoose from 'mongoose';
import { settleNumbers } from '../../../src/bin/service/sequence/settle-numbers.js';
import { SEQUENCE } from '../../../src/domain/sequence/sequence.js';
import { type ApiClient, apiClient, PURCHASE } from '../../support/api-client.js';
import { forget, recorded, runRecords } from '../../support/parts/records.js';
import { runHere } from '../../support/programs/command.js';
import { type Receiver, reply, startReceiver } from '../../support/receiver.js';
import { startSystem, type TestSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

// A system of its own: a part of it is stopped, and numbers of all its accounts are settled.
describe('the sequence of an account', () => {
  let system: TestSystem;
  /** Another process, which one of the tests ends. */
  let other: TestSystem | undefined;
  let receiver: Receiver;
  let client: ApiClient;

  before(async () => {
    system = await startSystem();
    other = await startSystem(system.environment, 'api');
    receiver = await startReceiver({ handler: reply(200) });
  });
  after(async () => {
    await receiver.close();
    await other?.stop();
    await system.stop();
  });
  beforeEach(async () => {
    client = await system.account();
    await client.register(receiver.url);
  });

  const post = (key?: string, by = client) =>
    by.request('POST', '/v18.0/events/purchase', {
      body: JSON.parse(PURCHASE),
      ...(key !== undefined && { headers: { 'idempotency-key': key } }),
    });
  const get = async (path: string, by = client) => {
    const { status, json, text } = await by.request('GET', `/v18.0${path}`);
    assert.equal(status, 200, text);
    return json;
  };
  const sequence = (query = '') => get(`/sequence${query}`);
  const delivered = (id: string) => client.deliveryUntil(id, ({ status }) => status === 'delivered');
  /** Posts an event that is delivered and recorded. */
  const send = async (by = client) => {
    const { json } = await post(undefined, by);
    const delivery = await delivered(json.deliveries[0].id);
    await recorded(system, client, [delivery.id]);
    return { event: json, delivery };
  };

  it('numbers each accepted event, the same in every view, and a repeat keeps it', async () => {
    const first = (await post('key-1')).json;
    assert.equal(first.sequence, 1);
    assert.equal((await post('key-1')).json.sequence, 1);
    const conflict = await client.request('POST', '/v18.0/events/purchase', {
      body: { ...JSON.parse(PURCHASE), total: 1 },
      headers: { 'idempotency-key': 'key-1' },
    });
    assert.equal(conflict.status, 409);
    assert.equal((await client.request('POST', '/v18.0/events/purchase', { body: {} })).status, 400);
    const second = (await post()).json;
    assert.equal(second.sequence, 2);
    const delivery = await delivered(second.deliveries[0].id);
    const views = async () => {
      const { data } = await get('/events');
      return {
        event: (await get(`/events/${second.id}`)).sequence,
        // A list has open executions before closed ones, so its order changes as deliveries close.
        list: data
          .map((one: { id: string; sequence: number }) => [one.id, one.sequence])
          .sort(([, a]: [string, number], [, b]: [string, number]) => a - b),
        delivery: (await get(`/deliveries/${delivery.id}`)).sequence,
        deliveries: (await get(`/deliveries?event_id=${second.id}`)).data[0]?.sequence,
        byEndpoint: (await get(`/events?endpoint_id=${delivery.endpoint_id}`)).data.length,
      };
    };
    const before = await until(views, ({ list, byEndpoint }) => list.length === 2 && byEndpoint === 2);
    assert.deepEqual([before.event, before.delivery, before.deliveries], [2, 2, 2]);
    assert.deepEqual(Object.fromEntries(before.list), { [first.id]: 1, [second.id]: 2 });
    const one = await delivered(first.deliveries[0].id);
    await recorded(system, client, [delivery.id, one.id]);
    await forget(system, [delivery, one]);
    assert.deepEqual(await views(), before);
    const { record } = await get(`/deliveries/${delivery.id}/certificate`).catch(() => ({
      record: undefined,
    }));
    assert.equal(record?.sequence, 2);
  });

  it('is that of each account alone, and has no number twice though two processes give them [world]', async () => {
    const elsewhere = apiClient(other?.url ?? '', client);
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, n) => post(undefined, n % 2 ? client : elsewhere)),
    );
    const numbers = answers.map(({ json }) => json.sequence);
    assert.equal(new Set(numbers).size, 30);
    const stranger = await system.account();
    assert.equal((await post(undefined, stranger)).json.sequence, 1);
    const found = await until(sequence, ({ event_count }) => event_count === 30);
    assert.deepEqual([found.first, found.missing_count], [1, 0]);
    assert.ok(found.open_count > 0);
    assert.equal((await get('/sequence', await system.account())).event_count, 0);
  });

  it('has void numbers in the log when a process ends, also when it was killed [world]', async () => {
    const { sequences } = system.database;
    const { event } = await send();
    assert.equal(event.sequence, 1);
    // A process that accepted nothing more, and was killed a long time ago.
    await sequences.hold('killed', new Date());
    const block = await sequences.reserve(client.accountId, 'killed', SEQUENCE.firstBlock);
    const ended = (await post(undefined, apiClient(other?.url ?? '', client))).json;
    await other?.stop();
    other = undefined;
    await delivered(ended.deliveries[0].id);
    const before = await sequence();
    assert.equal(before.void_count, SEQUENCE.firstBlock - 1);
    assert.deepEqual(
      before.open.map(({ first }: { first: number }) => first),
      [2, block.first],
    );
    const settle = (after: number) => settleNumbers({ database: system.database }, Date.now() + after);
    await settle(0);
    assert.equal((await sequence()).void_count, SEQUENCE.firstBlock - 1);
    await settle(SEQUENCE.settleAfterMs + 1_000_000);
    // Lists know of the last event a moment later.
    const after = await until(sequence, ({ missing_count }) => missing_count === 0);
    assert.ok(
      after.void.some(({ first, last }: typeof block) => first === block.first && last === block.last),
    );
    await recorded(system, client, [ended.deliveries[0].id]);
    const logged = await until(
      async () => {
        await runRecords(system);
        return sequence();
      },
      ({ void: voids }) => voids.every(({ leaf_index }: { leaf_index?: number }) => leaf_index !== undefined),
    );
    const folder = await mkdtemp(join(tmpdir(), 'hookline-sequence-'));
    const paths = [
      ...[1, ended.sequence].map((_, at) => `/deliveries/${[event, ended][at].deliveries[0].id}/certificate`),
      ...logged.void.map(({ first }: { first: number }) => `/sequence/void/${first}/certificate`),
    ];
    const files: string[] = [];
    for (const [at, path] of paths.entries()) {
      files.push(join(folder, `${at}.json`));
      await writeFile(files[at] ?? '', JSON.stringify(await get(path)));
    }
    const complete = await runHere('verify', {}, ['--complete', ...files]);
    assert.equal(complete, `All numbers from 1 to ${logged.last} are there, each in the log.`);
    const lacking = await runHere('verify', {}, ['--complete', ...files.toSpliced(1, 1)]).catch(
      ({ stdout }: { stdout: string }) => stdout,
    );
    assert.match(lacking, new RegExp(`there is no certificate of ${ended.sequence}`));
    await rm(folder, { recursive: true });
  });

  it('shows which events somebody has removed, everywhere [world]', async () => {
    const third = await startSystem(system.environment, 'api');
    const by = apiClient(third.url, client);
    const sent = [await send(by), await send(by), await send(by)];
    const [, removed] = sent;
    assert.equal(removed?.event.sequence, 2);
    // As long as it runs, numbers of its block count as open.
    await third.stop();
    const connection = await mongoose.createConnection(system.environment['MONGODB_URI'] ?? '').asPromise();
    const remove = (collection: string, id = '') =>
      connection.collection<{ _id: string }>(collection).deleteOne({ _id: id });
    await remove('events', removed?.event.id);
    await remove('deliveries', removed?.delivery.id);
    await forget(system, removed ? [removed.delivery] : []);
    const found = await sequence();
    assert.equal(found.complete, false);
    assert.deepEqual([found.missing_count, found.missing], [1, [{ first: 2, last: 2 }]]);
    const from = new Date(Date.parse(sent[0]?.event.created_at) - 1).toISOString();
    assert.deepEqual((await sequence(`?from=${from}`)).missing, [{ first: 2, last: 2 }]);
    const environment = { HOOKLINE_URL: system.url, HOOKLINE_API_KEY: client.key };
    const output = await runHere('verify', environment, ['--complete', '--from', from]).catch(
      ({ stdout, code }: { stdout: string; code: number }) => `${code} ${stdout}`,
    );
    assert.match(
      output,
      /^1 Numbers 1 to \d+: 2 events, 1 void, 0 open, 0 lost, 1 missing\.\nmissing {2}2\n/,
    );
    await connection.close();
  });
});
