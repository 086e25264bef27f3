import assert from 'node:assert/strict';
import { sharedDate } from '../../../src/domain/time/shared-time.js';
import { type ApiClient, PURCHASE, registering } from '../../support/api-client.js';
import {
  dryRun,
  listed,
  purchases,
  readReplay,
  replay,
  replayAsPreviewed,
  replayOver,
} from '../../support/parts/replays.js';
import { type Receiver, startReceiver } from '../../support/receiver.js';
import { type SharedSystem, sharedSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

const LARGE = PURCHASE.replace('12.5', '500');

describe('a replay of what an endpoint missed', () => {
  let system: SharedSystem;
  let receiver: Receiver;
  let client: ApiClient;

  before(async () => {
    system = await sharedSystem();
  });
  beforeEach(async () => {
    receiver = await startReceiver();
    client = registering(await system.account(), { retry_schedule: ['100ms'] });
  });
  afterEach(() => receiver.close());

  const missed = (endpoint_id: string, created_after: string, more: object = {}) => ({
    mode: 'missed',
    filter: { endpoint_id, created_after },
    ...more,
  });
  const listedEvents = (count: number) =>
    until(
      async () => (await client.request('GET', '/v18.0/events?limit=100')).json.data,
      (events) => events.length === count,
    );
  const patch = async (id: string, body: object) => {
    const headers = { 'content-type': 'application/merge-patch+json' };
    const { status, text } = await client.request('PATCH', `/v18.0/endpoints/${id}`, { body, headers });
    assert.equal(status, 200, text);
  };

  it('sends events from before it existed, with their ids, and those alone that it never had [world]', async () => {
    const since = sharedDate().toISOString();
    await client.register(`${receiver.url}/elsewhere`);
    await purchases(client, 12); // in groups
    const late = await client.register(`${receiver.url}/late`);
    await purchases(client, 3);
    await listed(client, 'status=delivered', 12 + 3 + 3);
    await client.request('POST', `/v18.0/endpoints/${late.id}/test`);
    const before = await listedEvents(16);

    const preview = await dryRun(client, missed(late.id, since));
    assert.deepEqual(
      [preview.found, preview.never_sent, preview.difference.compared_with, preview.difference.added.count],
      [12, 12, 'then', 12],
    );
    assert.equal(preview.difference.left_out.count, 0);
    const done = await replayAsPreviewed(client, missed(late.id, since));
    const ids = await listed(client, `endpoint_id=${late.id}&status=delivered&event_kind=purchase`, 15);
    const got = receiver.received.filter(({ path }) => path === '/late');
    const names = got
      .map(({ headers }) => String(headers['webhook-id']))
      .filter((id) => id.startsWith('evt_'));
    assert.equal(new Set(names).size, names.length);
    const known = new Set(before.map(({ id }: { id: string }) => id));
    assert.ok(
      names.every((id) => known.has(id)),
      'an event keeps its id',
    );
    await listedEvents(16);
    const sent = await client.delivery(preview.sample[0]);
    assert.ok(ids.includes(sent.id));
    assert.deepEqual(
      sent.interventions?.map(({ action, by, replay }) => ({ action, by, replay })),
      [{ action: 'replay', by: client.keyId, replay: done.id }],
    );
    const { json } = await client.request('GET', `/v18.0/changes?resource=delivery:${sent.id}`);
    assert.deepEqual(
      json.data.map((change: Record<string, string>) => `${change['action']} ${change['replay']}`),
      [`replayed ${done.id}`],
    );
    const { data } = (await client.request('GET', `/v18.0/deliveries/${sent.id}/timeline`)).json;
    assert.ok(data.some(({ text }: { text: string }) => text.startsWith('Sent for the first time by key_')));
    // Nothing is missed any more.
    assert.equal((await dryRun(client, missed(late.id, since))).found, 0);
  });

  it('leaves out a test of another endpoint, whatever its kind, and so does the verdict [world]', async () => {
    const since = sharedDate().toISOString();
    const tested = await client.register(`${receiver.url}/elsewhere`);
    await purchases(client, 1);
    const other = await client.register(receiver.url);
    const path = `/v18.0/endpoints/${tested.id}/test`;
    const test = await client.request('POST', path, { body: { event_kind: 'purchase' } });
    assert.equal(test.status, 202, test.text);
    await listed(client, 'status=delivered', 2);
    await listedEvents(2);
    assert.equal((await dryRun(client, missed(other.id, since))).found, 1);
    const query = `event_id=${test.json.id}&endpoint_id=${other.id}`;
    const { json } = await client.request('GET', `/v18.0/explain?${query}`);
    assert.equal(json.code, 'test_of_another_endpoint');
  });

  it('goes by the registration of today, of then, or of a time [world]', async () => {
    const since = sharedDate().toISOString();
    const { id } = await client.register(receiver.url, {
      filter: { path: '/total', at_least: 1_000 },
    });
    await client.register(`${receiver.url}/elsewhere`);
    await client.purchase(LARGE);
    await patch(id, { filter: { path: '/total', at_least: 100 } });
    const wide = sharedDate().toISOString();
    await patch(id, { filter: { path: '/total', at_least: 10_000 } });
    await purchases(client, 2);
    await listed(client, 'status=delivered', 3);

    const found = async (more: object) => {
      const { found, difference } = await dryRun(client, missed(id, since, more));
      return [found, difference.compared_with, difference.added.count, difference.left_out.count];
    };
    assert.deepEqual(await found({}), [0, 'then', 0, 0]);
    assert.deepEqual(await found({ registration: 'then' }), [0, 'now', 0, 0]);
    assert.deepEqual(await found({ as_of: wide }), [1, 'now', 1, 0]);
    await patch(id, { filter: null });
    assert.deepEqual(await found({}), [3, 'then', 3, 0]);
    assert.deepEqual(await found({ registration: 'then' }), [0, 'now', 0, 3]);
    const done = await replayAsPreviewed(client, missed(id, since, { as_of: wide }));
    assert.equal(done.found, 1);
    assert.deepEqual(await found({}), [2, 'then', 2, 0]);
  });

  it('sends what failed, too, and leaves what is open [world]', async () => {
    const since = sharedDate().toISOString();
    const { id } = await client.register(receiver.url, { status: 'paused' });
    const ids = await purchases(client, 4);
    await listed(client, 'status=parked', 4);
    for (const one of ids.slice(0, 3)) await client.request('POST', `/v18.0/deliveries/${one}/cancel`);
    await listed(client, 'status=cancelled', 3);
    const preview = await dryRun(client, missed(id, since));
    assert.deepEqual([preview.found, preview.never_sent], [3, 0]);
    const { id: replayId } = await replay(client, missed(id, since));
    assert.equal((await replayOver(client, replayId)).done, 3);
    await listed(client, 'status=parked', 4);
    assert.equal((await readReplay(client, replayId)).registration, 'now');
  });
});
