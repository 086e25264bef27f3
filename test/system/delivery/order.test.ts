import assert from 'node:assert/strict';
import { PLACE_KEPT_DAYS } from '../../../src/domain/order/delivery-order.js';
import { type Accepted, type ApiClient, PURCHASE } from '../../support/api-client.js';
import { runHere } from '../../support/programs/command.js';
import { promised } from '../../support/promised.js';
import { type ReceivedRequest, type Receiver, reply, startReceiver } from '../../support/receiver.js';
import { SHORT_WAITS, type SharedSystem, sharedSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

describe('deliveries in order', () => {
  let system: SharedSystem;
  let receiver: Receiver;
  let client: ApiClient;
  /** Orders that the receiver refuses. */
  let refused: Set<string>;
  /** Attempts are answered after this. */
  let held: Promise<void>;

  before(async () => {
    system = await sharedSystem(SHORT_WAITS);
  });
  beforeEach(async () => {
    client = await system.account();
    refused = new Set();
    held = Promise.resolve();
    receiver = await startReceiver({
      handler: async (request, response, body) => {
        await held;
        await reply(refused.has(orderOf(body)) ? 500 : 200)(request, response, body);
      },
    });
  });
  afterEach(() => receiver.close());

  const post = (order_id: string, key?: string) =>
    client.purchase(
      JSON.stringify({ ...JSON.parse(PURCHASE), order_id }),
      key === undefined ? {} : { 'hookline-order-key': key },
    );
  const deliveryOf = ({ deliveries: [one] }: Accepted) => one?.id ?? '';
  const act = async (event: Accepted, action: string) => {
    // One that looks whether it may go on is busy for a moment.
    const answer = await until(
      () => client.request('POST', `/v18.0/deliveries/${deliveryOf(event)}/${action}`),
      ({ status }) => status !== 409,
    );
    assert.ok(answer.status < 300, answer.text);
  };
  const explained = async (event: Accepted) => {
    const endpoint = event.deliveries[0]?.endpoint_id;
    return (await client.request('GET', `/v18.0/explain?endpoint_id=${endpoint}&event_id=${event.id}`)).json;
  };
  const statusOf = (event: Accepted, status: string) =>
    client.deliveryUntil(deliveryOf(event), (delivery) => delivery.status === status);
  const arrived = async (...orders: string[]) => {
    const all = await receiver.waitFor((some) => deliveredIn(some).length >= orders.length);
    assert.deepEqual(deliveredIn(all), orders);
  };

  it('waits for the one in front of it with the same key, and for no other', async () => {
    await client.register(receiver.url, { ordering: 'key', retry_schedule: Array(15).fill('2s') });
    refused.add('a1');
    const first = await post('a1', 'a');
    const others = [await post('a2', 'a'), await post('a3', 'a')] as const;
    await post('b1', 'b');
    await post('none');
    await receiver.waitFor((all) => deliveredIn(all).length === 2);
    const waiting = await client.deliveryUntil(deliveryOf(others[1]), ({ status }) => status === 'parked');
    assert.equal(waiting.attempts.length, 0);
    const reason = `Number 3 of its order waits for number 1 (${first.id}), which is not delivered yet.`;
    assert.equal(waiting.reason, reason);
    const { code, summary } = await explained(others[1]);
    assert.deepEqual([code, summary], ['waits_in_order', reason]);
    // Neither an act nor a change of the endpoint has it overtake.
    await act(others[1], 'retry');
    await client.deliveryUntil(deliveryOf(others[1]), ({ status }) => status === 'parked');
    refused.clear();
    await receiver.waitFor((all) => deliveredIn(all).length === 5);
    const ofA = receiver.received.filter(({ body }) => orderOf(body).startsWith('a'));
    assert.deepEqual(deliveredIn(ofA), ['a1', 'a2', 'a3']);
    const headers = ofA.map((one) => one.headers['webhook-order'] ?? '');
    const [, key] = /key="(o:[\w-]{16})"$/.exec(headers[0] ?? '') ?? [];
    assert.deepEqual(
      [...new Set(headers)],
      [`1;key="${key}"`, `2;previous=1;key="${key}"`, `3;previous=2;key="${key}"`],
    );
    const none = receiver.received.find(({ body }) => orderOf(body) === 'none');
    assert.equal(none?.headers['webhook-order'], undefined);
  });

  it('has its event in the feed by the number and key of the header, for its own account alone', async () => {
    const { id } = await client.register(receiver.url, { ordering: 'key' });
    const posted = [
      await post('a1', 'a'),
      await post('b1', 'b'),
      await post('a2', 'a'),
      await post('a3', 'a'),
    ];
    const [, , third, fourth] = posted.map((event) => event.id);
    const all = await receiver.waitFor((some) => deliveredIn(some).length === 4);
    const header = all.find(({ body }) => orderOf(body) === 'a2')?.headers['webhook-order'] ?? '';
    const [, number, key = ''] = /^(\d);previous=1;key="(.+)"$/.exec(header) ?? [];
    const place = `order=${number}&order_key=${key}`;
    const ask = (query: string, by = client) => by.request('GET', `/v18.0/feed?endpoint=${id}&${query}`);
    const idsOf = ({ json }: { json: { data: Accepted[] } }) => json.data.map((event) => event.id);
    const { json } = await until(
      () => ask(`${place}&limit=1&wait=5`),
      (answer) => answer.json.paging.next !== undefined,
    );
    assert.deepEqual(idsOf({ json }), [third]);
    const next = await client.request('GET', json.paging.next);
    assert.deepEqual(idsOf(next), [fourth]);
    const environment = { HOOKLINE_URL: system.url, HOOKLINE_API_KEY: client.key, HOOKLINE_DATA_DIR: 'none' };
    const shown = await runHere('feed', environment, [
      ...['--endpoint', id, '--order', '2', '--order-key', key, '--limit', '1', '--json'],
    ]);
    assert.equal(JSON.parse(shown).id, third);
    // The endpoint is registered for something else since.
    const body = { filter: { path: '/total', at_least: 1_000 } };
    assert.equal((await client.request('PATCH', `/v18.0/endpoints/${id}`, { body })).status, 200);
    assert.deepEqual(idsOf(await ask(place)), [third]);
    assert.deepEqual(idsOf(await ask('sequence=1')), []);

    const other = await system.account();
    assert.equal((await ask(place, other)).status, 404);
    for (const [query, told] of [
      [
        `order=4&order_key=${key}`,
        `4;previous=3;key="${key}". Numbers are kept for ${PLACE_KEPT_DAYS} days.`,
      ],
      ['order=2', '2;previous=1.'],
    ]) {
      const { status, json } = await ask(query ?? '');
      assert.deepEqual([status, json.code], [404, 'not_found']);
      assert.ok(json.detail.includes(`No delivery to the endpoint has the header webhook-order: ${told}`));
    }
    const refused = await ask(`${place}&sequence=1`);
    assert.deepEqual([refused.status, refused.json.errors[0].parameter], [400, 'sequence']);
  });

  it('waits for what has failed until it is sent again and delivered', async () => {
    await client.register(receiver.url, { ordering: 'key', retry_schedule: [] });
    refused.add('a1');
    const [first, second] = [await post('a1', 'a'), await post('a2', 'a')];
    await statusOf(first, 'exhausted');
    const { reason } = await client.deliveryUntil(deliveryOf(second), (one) =>
      (one.reason ?? '').includes('exhausted'),
    );
    assert.match(
      reason ?? '',
      /which is exhausted: until that is sent again and delivered, or the endpoint skips it/,
    );
    refused.clear();
    await act(first, 'resend');
    await arrived('a1', 'a2');
    assert.equal(receiver.received.at(-2)?.headers['webhook-order']?.split(';')[0], '1');
  });

  it('skips what has failed, if the endpoint says so, and what is cancelled', async () => {
    await client.register(receiver.url, {
      ordering: 'endpoint',
      order_skip: 'exhausted',
      retry_schedule: ['1s'],
      attempt_timeout: '30s',
    });
    refused.add('a1');
    // The first is not exhausted before the second is paused.
    const paused = promised();
    held = paused.promise;
    const events = [await post('a1', 'a'), await post('b2', 'b'), await post('3'), await post('4')] as const;
    await client.deliveryUntil(deliveryOf(events[2]), ({ status }) => status === 'parked');
    await act(events[1], 'pause');
    paused.resolve();
    await statusOf(events[0], 'exhausted');
    const third = await client.deliveryUntil(deliveryOf(events[2]), ({ reason }) =>
      (reason ?? '').includes('number 2'),
    );
    assert.equal(third.status, 'parked');
    await act(events[1], 'cancel');
    await arrived('3', '4');
    assert.equal(receiver.received.at(-1)?.headers['webhook-order'], '4;previous=3');
    // Out of order by the owner's act, which its number says.
    refused.clear();
    await act(events[0], 'resend');
    await arrived('3', '4', 'a1');
    assert.equal(receiver.received.at(-1)?.headers['webhook-order'], '1');
  });

  it('skips what holds up others for as long as the endpoint says', async () => {
    await client.register(receiver.url, {
      ordering: 'key',
      order_skip_after: '2s',
      retry_schedule: ['1h'],
    });
    refused.add('a1');
    const first = await post('a1', 'a');
    await post('a2', 'a');
    await arrived('a2');
    assert.equal((await client.delivery(deliveryOf(first))).status, 'retrying');
  });

  it('takes the key from a property that the schema marks, and refuses what is no key', async () => {
    const schema = {
      type: 'object',
      properties: { order_id: { type: 'string', 'x-hookline-order': true } },
    };
    const made = await client.request('POST', '/v18.0/event_kinds', {
      body: { name: 'order.paid', schema },
    });
    assert.ok(made.status < 300, made.text);
    await client.register(receiver.url, { ordering: 'key', event_kinds: ['order.paid'] });
    for (const order_id of ['x', 'y', 'x'])
      await client.request('POST', '/v18.0/events/order.paid', { body: { order_id } });
    const all = await receiver.waitFor((some) => some.length === 3);
    const numbers = all.map(({ body, headers }) => [orderOf(body), headers['webhook-order']?.split(';')[0]]);
    assert.deepEqual(numbers.sort(), [
      ['x', '1'],
      ['x', '2'],
      ['y', '1'],
    ]);
    for (const key of ['', 'x'.repeat(257), '%zz']) {
      const { status, json } = await client.request('POST', '/v18.0/events/purchase', {
        ...{ raw: PURCHASE, headers: { 'hookline-order-key': key } },
      });
      assert.equal(status, 400, key);
      assert.equal(json.errors[0].parameter, 'Hookline-Order-Key');
    }
    const { json } = await client.request('POST', '/v18.0/endpoints', {
      body: { target_url: receiver.url, event_kinds: ['*'], order_skip: 'exhausted' },
    });
    assert.equal(json.errors[0].pointer, '/order_skip');
  });
});

function orderOf(body: Buffer): string {
  return String((JSON.parse(body.toString()) as { order_id: string }).order_id);
}

/** Orders that were answered 200, in their order. */
function deliveredIn(all: readonly ReceivedRequest[]): string[] {
  return all.flatMap(({ body, answered }) => (answered === 200 ? [orderOf(body)] : []));
}
