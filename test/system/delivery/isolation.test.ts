import assert from 'node:assert/strict';
import { SLOTS } from '../../../src/domain/endpoint/breaker/endpoint-condition.js';
import type { Accepted } from '../../support/api-client.js';
import { eventTypes, executionOf, fetchHistory } from '../../support/history.js';
import { type Handler, type Receiver, reply, startReceiver } from '../../support/receiver.js';
import { ONE_BY_ONE, startSystem, type TestSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

/** An endpoint that takes requests and answers none until it is told to. */
async function startHangingReceiver(): Promise<
  Receiver & { hang: Handler; answerAll(status: number): void }
> {
  const held: Parameters<Handler>[1][] = [];
  let status: number | undefined;
  const hang: Handler = (_request, response) => {
    if (status === undefined) held.push(response);
    else response.writeHead(status).end();
  };
  const receiver = await startReceiver({ handler: hang });
  return Object.assign(receiver, {
    hang,
    answerAll(all: number) {
      status = all;
      for (const response of held.splice(0)) response.writeHead(all).end();
    },
  });
}

/** How long a slow endpoint takes to answer, milliseconds. */
const TAKES_ITS_TIME_MS = 500;

const webhookIds = (receiver: Receiver) => receiver.received.map(({ headers }) => headers['webhook-id']);

describe('isolation [world]', () => {
  // An attempt may hang for longer than any of these tests lasts, so nothing in them passes because a limit was
  // reached.
  const HANG = { HOOKLINE_ATTEMPT_TIMEOUT: '100s', HOOKLINE_RETRY_SCHEDULE: '1h' };
  let system: TestSystem;
  let healthy: Receiver;
  let hanging: Awaited<ReturnType<typeof startHangingReceiver>>;

  beforeEach(async () => {
    healthy = await startReceiver();
    hanging = await startHangingReceiver();
  });
  afterEach(async () => {
    hanging.answerAll(200);
    await system.stop();
    await hanging.close();
    await healthy.close();
  });

  it('delivers to healthy endpoints while a third of the endpoints hang', async () => {
    // Far fewer slots of the isolated lane than there are deliveries that hang, each with its own: those of a group
    // share one. No pause of this machine makes an endpoint a slow one.
    system = await startSystem({
      ...{ ...HANG, ...ONE_BY_ONE },
      HOOKLINE_ISOLATED_ATTEMPTS: '2',
      HOOKLINE_SLOW_RESPONSE: '90s',
    });
    const good = await system.account();
    const bad = await system.account();
    for (const path of ['/1', '/2']) await good.register(`${healthy.url}${path}`);
    await bad.register(hanging.url);
    hanging.handle(reply(500));
    const { deliveries } = await bad.purchase();
    await bad.deliveryUntil(deliveries[0]?.id ?? '', ({ status }) => status === 'retrying');
    hanging.handle(hanging.hang);

    const toHanging: Accepted[] = [];
    const toHealthy: Accepted[] = [];
    for (let round = 0; round < 8; round++) {
      const both = await Promise.all([bad.purchase(), good.purchase()]);
      toHanging.push(both[0]);
      toHealthy.push(both[1]);
    }
    await healthy.waitFor((all) => all.length === 16);
    assert.equal(new Set(webhookIds(healthy)).size, toHealthy.length);
    // Nothing of the other endpoint has come to an end meanwhile.
    assert.equal(hanging.received.filter(({ over }) => over).length, 1);
    assert.ok(hanging.received.length <= 1 + 2, `${hanging.received.length}`);

    hanging.answerAll(200);
    await hanging.waitFor((all) => all.filter(({ over }) => over).length > toHanging.length);
    assert.deepEqual(webhookIds(hanging).slice(1).sort(), toHanging.map(({ id }) => id).sort());
  });

  it('keeps an endpoint fast beside one at the same host and port that hangs with many deliveries', async () => {
    system = await startSystem(HANG);
    const good = await system.account();
    const bad = await system.account();
    const { id } = await good.register(`${hanging.url}/good`);
    await bad.register(`${hanging.url}/hangs`);
    hanging.handle((request, response, body) => {
      if (request.url === '/good') response.writeHead(200).end();
      else return hanging.hang(request, response, body);
    });
    const toHanging = await Promise.all(Array.from({ length: 80 }, () => bad.purchase()));
    const at = (path: string) => hanging.received.filter((one) => one.path === path);
    await hanging.waitFor(() => at('/hangs').length === SLOTS.first);

    const toGood = [];
    for (let round = 0; round < 5; round++) toGood.push(await good.purchase());
    await hanging.waitFor(() => at('/good').length === toGood.length);
    for (const { deliveries } of toGood) {
      const { attempts } = await good.deliveryUntil(
        deliveries[0]?.id ?? '',
        ({ status }) => status === 'delivered',
      );
      assert.deepEqual(
        attempts.map(({ status_code }) => status_code),
        [200],
      );
    }
    const { json } = await good.request('GET', `/v18.0/endpoints/${id}`);
    assert.equal(json.incident, undefined);
    // None of the other endpoint's attempts has ended meanwhile, and no more are in flight than may be.
    assert.ok(at('/hangs').every(({ over }) => !over));
    assert.ok(at('/hangs').length <= SLOTS.first, `${at('/hangs').length} in flight`);

    hanging.answerAll(200);
    const expected = new Set(toHanging.map((event) => event.id));
    // A delivery that found no slot asks again within a minute.
    await hanging.waitFor(
      () => new Set(at('/hangs').map(({ headers }) => headers['webhook-id'])).size === expected.size,
      120_000,
    );
  });

  it('shares the isolated lane out between endpoints, so that a backlog of one does not hold another up', async () => {
    system = await startSystem({ ...HANG, HOOKLINE_ISOLATED_ATTEMPTS: '1', ...ONE_BY_ONE });
    const failing = await startReceiver({ handler: reply(500) });
    try {
      const flood = await system.account();
      const { id } = await flood.register(failing.url);
      const quiet = await system.account();
      await quiet.register(failing.url);
      // Both fail once: from here on the isolated lane is theirs.
      await flood.purchase();
      await quiet.purchase();
      await failing.waitFor((all) => all.length === 2);

      const endpoint = { target_url: hanging.url, event_kinds: ['purchase'] };
      await flood.request('PUT', `/v18.0/endpoints/${id}`, { body: endpoint });
      for (let index = 0; index < 20; index++) await flood.purchase();
      await hanging.waitFor((all) => all.length === 1);
      const event = await quiet.purchase();
      const { workflow_id } = await quiet.delivery(event.deliveries[0]?.id ?? '');
      const describe = async () => (await executionOf(system, workflow_id)).describe();
      await until(describe, ({ raw }) => raw.pendingActivities?.length === 1);
      // A scheduled attempt reaches its queue a little later: the backlog is of an endpoint that takes its time, so it
      // is still there then.
      hanging.handle(
        (_request, response) => void setTimeout(() => response.writeHead(500).end(), TAKES_ITS_TIME_MS),
      );
      hanging.answerAll(500);
      await failing.waitFor((all) => all.some(({ headers }) => headers['webhook-id'] === event.id));
    } finally {
      await failing.close();
    }
    const before = hanging.received.length;
    assert.ok(before < 10, `${before} of the other endpoint's 21 attempts came first`);
  });

  it('takes events however many first attempts are in flight, and makes further ones in the isolated lane', async () => {
    system = await startSystem({ ...HANG, HOOKLINE_MAX_FIRST_ATTEMPTS: '3' });
    const bad = await system.account();
    for (const path of ['/1', '/2', '/3']) await bad.register(`${hanging.url}${path}`);
    await bad.purchase();
    await hanging.waitFor((all) => all.length === 3);

    const good = await system.account();
    await good.register(healthy.url);
    const { deliveries } = await good.purchase();
    const delivery = await good.deliveryUntil(
      deliveries[0]?.id ?? '',
      ({ status }) => status === 'delivered',
    );
    assert.ok(
      eventTypes(await fetchHistory(system, delivery.workflow_id)).includes('ACTIVITY_TASK_SCHEDULED'),
    );
    assert.ok(hanging.received.every(({ over }) => !over));
  });
});
