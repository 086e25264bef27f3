import assert from 'node:assert/strict';
import { type ApiClient, PURCHASE } from '../../support/api-client.js';
import { type FreezingProxy, startFreezingProxy } from '../../support/outside/freezing-proxy.js';
import { type Command, type MongodbProxy, startMongodbProxy } from '../../support/outside/mongodb-proxy.js';
import { readAll } from '../../support/parts/pages.js';
import { type Receiver, reply, startReceiver } from '../../support/receiver.js';
import { databaseIn, servers } from '../../support/servers.js';
import { SHORT_WAITS, startSystem, type TestSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

/** Longer than it takes to stop writes, milliseconds. */
const RETRY_MS = 3_000;
/** How long MongoDB is away, milliseconds: with {@link SHORT_WAITS} all that processes go by is over in 12 s. */
const AWAY_MS = 13_000;
/** So often Temporal has what is due tried meanwhile. */
const TRIES = 3;
/** Due when MongoDB is back, milliseconds. */
const LATER_MS = 30_000;
const KEYED = { raw: PURCHASE, headers: { 'idempotency-key': 'order-1' } };

describe('a MongoDB server [world]', () => {
  let receiver: Receiver;
  let system: TestSystem;

  beforeEach(async () => {
    receiver = await startReceiver();
  });
  afterEach(() => receiver.close());

  /** Requests for an event, in the order in which they came. */
  const requestsFor = (id: string) => receiver.received.filter(({ headers }) => headers['webhook-id'] === id);

  /** An event to one endpoint, and its delivery. */
  async function purchase(client: ApiClient): Promise<{ event: string; delivery: string }> {
    const { id, deliveries } = await client.purchase();
    return { event: id, delivery: deliveries[0]?.id ?? '' };
  }

  describe('behind a proxy', () => {
    let mongodb: MongodbProxy;

    beforeEach(async () => {
      mongodb = await startMongodbProxy(databaseIn(servers().mongodbUri, `faults${Date.now()}`));
      system = await startSystem({ MONGODB_URI: mongodb.uri });
    });
    afterEach(async () => {
      mongodb.heal();
      await system.stop();
      mongodb.close();
    });

    /** Types of the activities that the execution of a delivery waits for. */
    async function pendingActivities(client: ApiClient, delivery: string): Promise<string[]> {
      const { workflow_id = '' } = (await client.delivery(delivery)) as { workflow_id?: string };
      const { raw } = await system.temporal.client.workflow.getHandle(workflow_id).describe();
      return (raw.pendingActivities ?? []).map(({ activityType }) => activityType?.name ?? '');
    }

    for (const [what, fate] of [
      ['refuses writes', 'refuse'],
      ['does not respond to writes', 'hold'],
    ] as const)
      it(`that ${what}, but reads, stops acceptance and no delivery: rows follow, and no attempt is made twice`, async () => {
        const [client, other] = [await system.account(), await system.account()];
        receiver.handle(reply(500));
        await client.register(`${receiver.url}/fails`, { retry_schedule: [`${RETRY_MS}ms`, '1h'] });
        const retried = await purchase(client);
        await client.deliveryUntil(retried.delivery, ({ status }) => status === 'retrying');
        // Another one is in its first attempt when writes stop.
        let answer = () => {};
        receiver.handle((_, response) => {
          answer = () => void response.writeHead(200).end();
        });
        await other.register(`${receiver.url}/slow`);
        const begun = await purchase(other);
        await receiver.waitFor(() => requestsFor(begun.event).length === 1);
        mongodb.rule(({ isWrite }) => (isWrite ? fate : 'pass'));
        answer();
        receiver.handle(reply(200));

        const refused = await client.request('POST', '/v18.0/events/purchase', KEYED);
        assert.equal(refused.status, 503, refused.text);
        assert.ok(refused.headers.get('retry-after'), refused.text);
        await receiver.waitFor(() => requestsFor(retried.event).length === 2);
        // The execution waits to have its row kept, and reads show the row as it was kept before.
        await until(
          () => pendingActivities(client, retried.delivery),
          (names) => names.includes('keepRows'),
        );
        const { status, attempts } = await client.delivery(retried.delivery);
        assert.deepEqual([status, attempts.length], ['retrying', 1]);

        mongodb.heal();
        const isDelivered = (delivery: { status: string }) => delivery.status === 'delivered';
        const after = await client.deliveryUntil(retried.delivery, isDelivered);
        assert.deepEqual(
          after.attempts.map(({ status_code, lost_tries }) => [status_code, lost_tries]),
          [
            [500, undefined],
            [200, undefined],
          ],
        );
        const first = await other.deliveryUntil(begun.delivery, isDelivered);
        assert.deepEqual(
          first.attempts.map(({ status_code, lost_tries }) => [status_code, lost_tries]),
          [[200, undefined]],
        );
        const accepted = await client.request('POST', '/v18.0/events/purchase', KEYED);
        assert.equal(accepted.status, 202, accepted.text);
        await client.deliveryUntil(accepted.json.deliveries[0].id, isDelivered);
        assert.equal((await readAll(client, '/v18.0/deliveries')).length, 2);
        assert.deepEqual(
          [retried.event, begun.event, accepted.json.id].map((id) => requestsFor(id).length),
          [2, 1, 1],
        );
      });

    it('that is slow to keep rows does not delay what is accepted', async () => {
      const client = await system.account();
      await client.register(receiver.url);
      mongodb.slowDown(250);
      // No row is kept while these arrive: first with none under way, then with some.
      mongodb.rule(({ isWrite, collection }: Command) =>
        isWrite && collection === 'deliveries' ? 'hold' : 'pass',
      );
      const wave = () => Promise.all(Array.from({ length: 10 }, () => purchase(client)));
      const first = await wave();
      await receiver.waitFor((all) => all.length === first.length);
      await until(
        () => mongodb.held,
        (held) => held > 0,
      );
      const all = [...first, ...(await wave())];
      await receiver.waitFor(({ length }) => length === all.length);
      assert.ok(mongodb.held > 0, 'rows are still to be kept');
      assert.deepEqual(await readAll(client, '/v18.0/deliveries?status=delivered'), []);

      mongodb.heal();
      for (const { event, delivery } of all) {
        const { attempts } = await client.deliveryUntil(delivery, ({ status }) => status === 'delivered');
        assert.deepEqual([attempts.length, requestsFor(event).length], [1, 1]);
      }
    });
  });

  describe('that is away for longer than processes are taken for dead, and caches last', () => {
    let mongodb: FreezingProxy;
    let worker: TestSystem;

    beforeEach(async () => {
      const { mongodbUri } = servers();
      mongodb = await startFreezingProxy(new URL(mongodbUri).host);
      const uri = databaseIn(`mongodb://${mongodb.address}`, `away${Date.now()}`);
      system = await startSystem({ ...SHORT_WAITS, MONGODB_URI: uri });
      worker = await startSystem(system.environment, 'worker');
    });
    afterEach(async () => {
      await worker.stop();
      await system.stop();
      await mongodb.close();
    });

    /** How often Temporal has tried what the execution of a delivery waits for. */
    async function tries(workflowId: string): Promise<number> {
      const { raw } = await system.temporal.client.workflow.getHandle(workflowId).describe();
      return Math.max(0, ...(raw.pendingActivities ?? []).map(({ attempt }) => attempt ?? 0));
    }

    it('loses nothing, and leaves nothing stuck or early', async () => {
      const client = await system.account();
      const [due, later, slow] = await Promise.all([system.account(), system.account(), system.account()]);
      receiver.handle(reply(500));
      await due.register(`${receiver.url}/due`, { retry_schedule: ['1s', '1s', '1h'] });
      await later.register(`${receiver.url}/later`, { retry_schedule: [`${LATER_MS}ms`, '1h'] });
      const dueMeanwhile = await purchase(due);
      const dueLater = await purchase(later);
      const { workflow_id } = await due.deliveryUntil(
        dueMeanwhile.delivery,
        ({ status }) => status === 'retrying',
      );
      await later.deliveryUntil(dueLater.delivery, ({ status }) => status === 'retrying');
      let answer = () => {};
      receiver.handle((_, response) => {
        answer = () => void response.writeHead(200).end();
      });
      await slow.register(`${receiver.url}/slow`);
      await client.register(`${receiver.url}/next`);
      const begun = await purchase(slow);
      await receiver.waitFor(() => requestsFor(begun.event).length === 1);

      await mongodb.cut();
      const cut = performance.now();
      answer();
      receiver.handle(reply(200));
      const refused = await client.request('POST', '/v18.0/events/purchase', KEYED);
      assert.equal(refused.status, 503, refused.text);
      await until(
        () => tries(workflow_id),
        (count) => count >= TRIES && performance.now() - cut > AWAY_MS,
      );
      await mongodb.restore();

      const accepted = await until(
        () => client.request('POST', '/v18.0/events/purchase', KEYED),
        ({ status }) => status === 202,
      );
      const all: [ApiClient, string, string][] = [
        [due, dueMeanwhile.event, dueMeanwhile.delivery],
        [later, dueLater.event, dueLater.delivery],
        [slow, begun.event, begun.delivery],
        [client, accepted.json.id, accepted.json.deliveries[0].id],
      ];
      for (const [by, event, id] of all) {
        const { attempts } = await by.deliveryUntil(id, ({ status }) => status === 'delivered');
        const lost = attempts.reduce((sum, { lost_tries = 0 }) => sum + lost_tries, 0);
        const seen = requestsFor(event).length;
        assert.ok(attempts.length <= seen && seen <= attempts.length + lost, JSON.stringify(attempts));
        assert.equal((await readAll(by, '/v18.0/deliveries')).length, 1);
      }
      const [first, second] = requestsFor(dueLater.event);
      assert.ok(Number(second?.at) - Number(first?.at) >= LATER_MS, 'not early');
    });
  });
});
