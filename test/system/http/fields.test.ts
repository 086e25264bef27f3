import assert from 'node:assert/strict';
import { type ApiClient, PURCHASE } from '../../support/api-client.js';
import { type Receiver, startReceiver } from '../../support/receiver.js';
import { type SharedSystem, sharedSystem } from '../../support/system.js';

describe('fields of reads', () => {
  let system: SharedSystem;
  let client: ApiClient;
  let receiver: Receiver;
  let event: { id: string; deliveries: { id: string }[] };

  before(async () => {
    system = await sharedSystem();
    receiver = await startReceiver();
    client = await system.account();
    for (let index = 0; index < 3; index += 1)
      await client.register(receiver.url, { metadata: { index: `${index}` } });
    event = await client.purchase(PURCHASE.replace('12.5', '12.50000000000000000001'));
  });
  after(() => receiver.close());

  const read = async (path: string) => {
    const { status, text, json } = await client.request('GET', `/v18.0${path}`);
    assert.equal(status, 200, text);
    return { text, json };
  };

  it('are those that were named, in their order, on a resource and on each row of a list', async () => {
    const one = await read(`/events/${event.id}?fields=kind,id,deliveries.limit(2){status}`);
    assert.deepEqual(Object.keys(one.json), ['kind', 'id', 'deliveries']);
    assert.equal(one.json.deliveries.length, 2);
    assert.deepEqual(Object.keys(one.json.deliveries[0]), ['status']);

    const list = await read('/endpoints?limit=2&fields=metadata{index},id');
    assert.deepEqual(
      list.json.data.map(({ metadata }: { metadata: object }) => metadata),
      [{ index: '0' }, { index: '1' }],
    );
    assert.deepEqual(Object.keys(list.json.data[0]), ['metadata', 'id']);
    const next = new URL(list.json.paging.next, system.url).searchParams;
    assert.equal(next.get('fields'), 'metadata{index},id');
  });

  it('leave a payload as it was posted, and leave it out where it is not named', async () => {
    assert.match((await read(`/events/${event.id}?fields=id,payload`)).text, /12\.50000000000000000001/);
    assert.deepEqual((await read(`/events/${event.id}?fields=id`)).json, { id: event.id });
    assert.match((await read(`/events/${event.id}?fields=payload`)).text, /^\{"payload":\{/);
  });

  it('that there are not are refused, with those that there are', async () => {
    for (const [path, known] of [
      [`/events/${event.id}?fields=shoe_size`, 'deliveries'],
      ['/deliveries?fields=id,attempts', 'event_kind'],
      ['/endpoints?fields=paging', 'target_url'],
      ['/stats?fields=x', ''],
    ] as const) {
      const { status, json } = await client.request('GET', `/v18.0${path}`);
      assert.deepEqual([status, json.code], [400, 'invalid_fields'], path);
      assert.ok(json.detail.includes(known), json.detail);
    }
  });
});
