import assert from 'node:assert/strict';
import { newId } from '../../../src/domain/basics/ids.js';
import { MAX_NAMED_ENDPOINTS } from '../../../src/domain/delivery/recipients.js';
import { type ApiClient, PURCHASE } from '../../support/api-client.js';
import { type Receiver, startReceiver } from '../../support/receiver.js';
import { type SharedSystem, sharedSystem } from '../../support/system.js';

describe('an event to named endpoints', () => {
  let system: SharedSystem;
  let receiver: Receiver;
  let client: ApiClient;

  before(async () => {
    system = await sharedSystem();
    receiver = await startReceiver();
    client = await system.account();
  });
  after(() => receiver.close());

  const post = (ids: string, more: Record<string, string> = {}) =>
    client.request('POST', '/v18.0/events/purchase', {
      raw: PURCHASE,
      headers: { 'hookline-endpoints': ids, ...more },
    });
  const verdict = async (event: string, endpoint: string) =>
    (await client.request('GET', `/v18.0/explain?event_id=${event}&endpoint_id=${endpoint}`)).json;

  it('goes to those of them that it matches, and explain says so of the others', async () => {
    const since = new Date(Date.now() - 60_000).toISOString();
    const [named, other] = [await client.register(receiver.url), await client.register(receiver.url)];
    const unmatched = await client.register(receiver.url, { filter: { path: '/total', at_least: 1_000 } });
    const { status, json } = await post(`${named.id}, ${unmatched.id},${named.id}`);
    assert.equal(status, 202);
    assert.deepEqual(
      json.deliveries.map(({ endpoint_id }: { endpoint_id: string }) => endpoint_id),
      [named.id],
    );
    const { code, summary } = await verdict(json.id, other.id);
    assert.equal(code, 'not_named');
    assert.match(summary, new RegExp(`sent to named endpoints only: ${named.id}, ${unmatched.id}\\.`));
    assert.equal((await verdict(json.id, unmatched.id)).code, 'filter_not_met');
    const event = await client.request('GET', `/v18.0/events/${json.id}`);
    assert.deepEqual(event.json.named_endpoints, [named.id, unmatched.id]);
    const dry = await client.request('POST', '/v18.0/replays', {
      body: {
        mode: 'missed',
        dry_run: true,
        filter: { endpoint_id: other.id, created_after: since },
      },
    });
    assert.equal(dry.json.found, 0, `no replay sends it to others: ${dry.text}`);
  });

  it('is refused if the account has no such endpoint, also if another has', async () => {
    const foreign = await (await system.account()).register(receiver.url);
    const own = await client.register(receiver.url);
    const unknown = newId('endpoint');
    const { status, json } = await post(`${own.id},${foreign.id},${unknown}`);
    assert.equal(status, 400);
    assert.deepEqual(json.errors, [
      {
        parameter: 'Hookline-Endpoints',
        detail: `names no endpoint of the account: ${foreign.id}, ${unknown}`,
      },
    ]);
  });

  it('is refused if it names too many, or what is no id', async () => {
    for (const ids of [
      Array.from({ length: MAX_NAMED_ENDPOINTS + 1 }, () => newId('endpoint')).join(),
      'ep_1',
      ',',
    ]) {
      const { status, json } = await post(ids);
      assert.deepEqual([status, json.errors[0].parameter], [400, 'Hookline-Endpoints']);
      assert.match(json.detail, /must be 1 to 20 ids of endpoints/);
    }
  });

  it('is another event under the same idempotency key if it names others', async () => {
    const { id } = await client.register(receiver.url);
    const key = { 'idempotency-key': 'named-1' };
    const first = await post(id, key);
    assert.equal((await post(id, key)).json.id, first.json.id);
    const without = await client.request('POST', '/v18.0/events/purchase', { raw: PURCHASE, headers: key });
    assert.equal(without.json.code, 'idempotency_conflict');
  });
});
