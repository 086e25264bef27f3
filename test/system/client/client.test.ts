import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict';
import { Hookline, HooklineError, type Schemas } from '../../../clients/typescript/src/index.js';
import { freePort } from '../../../packages/embedded-servers/src/index.js';
import { connectDatabase } from '../../../src/models/database.js';
import { PURCHASE } from '../../support/api-client.js';
import { startServiceProcess } from '../../support/programs/process.js';
import { startReceiver } from '../../support/receiver.js';
import { newAccount, startSystem, type TestSystem, testEnvironment } from '../../support/system.js';

describe('the TypeScript client', () => {
  let system: TestSystem;
  before(async () => {
    // Limits so low that a client which does not wait is refused; 1/1s for each account.
    system = await startSystem({ HOOKLINE_RATE_LIMIT_ACCOUNT: '1/1s' }, 'all');
  });
  after(() => system.stop());

  async function newClient() {
    const { key } = await system.account();
    return new Hookline({ url: system.url, token: async () => key });
  }

  it('does what the API offers, typed by its document', async () => {
    const receiver = await startReceiver();
    const hookline = await newClient();
    const endpoint = await hookline.post('/v18.0/endpoints', {
      body: { target_url: receiver.url, event_kinds: ['purchase'] },
    });
    const params = { path: { id: endpoint.id } };
    const changed: Schemas['Endpoint'] = await hookline.patch('/v18.0/endpoints/{id}', {
      params,
      body: { description: 'Shop' },
    });
    equal(changed.description, 'Shop');
    const event = await hookline.postEvent('purchase', PURCHASE, { keys: { batch: '7' } });
    const [received] = await receiver.waitFor((all) => all.length === 1);
    equal(received?.headers['webhook-id'], event.id);
    equal(received?.body.toString(), PURCHASE);
    equal(await hookline.delete('/v18.0/endpoints/{id}', { params }), undefined);
    await rejects(hookline.get('/v18.0/endpoints/{id}', { params }), { status: 404, code: 'not_found' });
    await receiver.close();
  });

  it('posts an event in the order of its key, and one that is sent later', async () => {
    const receiver = await startReceiver();
    const hookline = await newClient();
    await hookline.post('/v18.0/endpoints', {
      body: { target_url: receiver.url, event_kinds: ['purchase'], ordering: 'key' },
    });
    const orderKey = 'Größe 7, %';
    await hookline.postEvent('purchase', PURCHASE, { orderKey });
    const [received] = await receiver.waitFor((all) => all.length === 1);
    match(received?.headers['webhook-order'] ?? '', /^1;key="/);
    const at = new Date(Date.now() + 3_600_000);
    const once = { idempotencyKey: 'later-1', orderKey };
    const { id, status, deliver_at } = await hookline.scheduleEvent('purchase', PURCHASE, at, once);
    deepEqual([status, deliver_at], ['scheduled', at.toISOString()]);
    equal((await hookline.scheduleEvent('purchase', PURCHASE, at, once)).id, id);
    // The key by which it is ordered belongs to what must be the same.
    await rejects(hookline.scheduleEvent('purchase', PURCHASE, at, { ...once, orderKey: 'another' }), {
      code: 'idempotency_conflict',
    });
    await receiver.close();
  });

  it('posts several events in one request, each byte for byte', async () => {
    const receiver = await startReceiver();
    const hookline = await newClient();
    const { id } = await hookline.post('/v18.0/endpoints', {
      body: { target_url: receiver.url, event_kinds: ['purchase'] },
    });
    // No more than one: of two, the account's limit has no room for the second.
    const event = { kind: 'purchase', payload: PURCHASE, keys: { batch: '8' }, endpoints: [id] };
    const { accepted, results } = await hookline.postEvents([event]);
    equal(accepted, 1);
    equal((await receiver.waitFor((all) => all.length === 1))[0]?.body.toString(), PURCHASE);
    await rejects(
      hookline.postEvents([event, event], { signal: AbortSignal.timeout(120_000) }),
      (error: Error) => error instanceof HooklineError && error.status === 429,
    );
    equal(results[0]?.event?.deliveries?.[0]?.endpoint_id, id);
    const refused = await hookline.postEvents([{ kind: 'none', payload: {} }], { mode: 'each' });
    equal(refused.results[0]?.problem?.code, 'unknown_event_kind');
    await receiver.close();
  });

  it('reads lists of several pages', async () => {
    const hookline = await newClient();
    const created: string[] = [];
    for (const name of ['Ada', 'Grace', 'Edsger'])
      created.push(
        (await hookline.post('/v18.0/profiles', { body: { username: name.toLowerCase(), name } })).id,
      );
    const listed: string[] = [];
    for await (const { id } of hookline.list('/v18.0/profiles', { query: { limit: 2 } })) listed.push(id);
    for (const id of created) ok(listed.includes(id));
    equal(new Set(listed).size, listed.length);
  });

  it('shows what is wrong with a request', async () => {
    const hookline = await newClient();
    await rejects(hookline.postEvent('purchase', { order_id: 1 }), (error: Error) => {
      const { code, errors } = error as unknown as { code: string; errors: { pointer?: string }[] };
      equal(code, 'invalid_payload');
      ok(errors.some(({ pointer }) => pointer === '/order_id'));
      return true;
    });
  });

  it('waits as Retry-After says when the server has had enough', async () => {
    const hookline = await newClient();
    const before = Date.now();
    await hookline.postEvent('purchase', PURCHASE);
    await hookline.postEvent('purchase', PURCHASE);
    await hookline.postEvent('purchase', PURCHASE);
    // Three in two windows of a second at least.
    ok(Date.now() - before >= 1_000);
  });
});

describe('the TypeScript client and a server that is killed', () => {
  it('repeats what was under way with the same key, so that each event is there once [world]', async () => {
    const receiver = await startReceiver();
    const environment = await testEnvironment({ HOOKLINE_PORT: String(await freePort()) });
    const database = await connectDatabase(environment['MONGODB_URI'] ?? '');
    const first = await startServiceProcess(environment);
    const account = await newAccount(database, first.url);
    const hookline = new Hookline({ url: first.url, token: account.key, retry: { tries: 24 } });
    await account.register(receiver.url);

    const orders = Array.from({ length: 30 }, (_, index) => `order-${index}`);
    const posted = orders.map((order_id) =>
      hookline.postEvent('purchase', { ...JSON.parse(PURCHASE), order_id }),
    );
    await Promise.race(posted);
    await first.kill();
    const second = await startSystem(environment);
    const ids = (await Promise.all(posted)).map(({ id }) => id);
    const seen = await receiver.waitFor(
      (all) => new Set(all.map(({ headers }) => headers['webhook-id'])).size >= orders.length,
    );

    equal(new Set(ids).size, orders.length);
    deepEqual(new Set(seen.map(({ headers }) => headers['webhook-id'])), new Set(ids));
    const ordersOf = new Map(
      seen.map(({ headers, body }) => [headers['webhook-id'], JSON.parse(body.toString())]),
    );
    deepEqual([...ordersOf.values()].map(({ order_id }) => order_id).sort(), orders.sort());
    await second.stop();
    await database.close();
    await receiver.close();
  });
});
