import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { OPERATOR_SCOPES, PLATFORM_SCOPES } from '../../../src/domain/access/api-key.js';
import type { ApiClient } from '../../support/api-client.js';
import { PURCHASE } from '../../support/api-client.js';
import { type Receiver, reply, startReceiver } from '../../support/receiver.js';
import { startApart, type TestSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

/** A row of the list of all deliveries. */
interface ShownRow {
  account: unknown;
  last_attempt?: { number: number; status_code?: number };
  business_keys?: unknown;
}

describe('the operator over all accounts', () => {
  let system: TestSystem;
  let receiver: Receiver;
  let failing: Receiver;
  let operator: ApiClient;
  let acorn: ApiClient;
  let birch: ApiClient;
  before(async () => {
    [system, receiver, failing] = await Promise.all([
      // The backlog is that of all systems in a namespace, and only its largest parts are shown.
      startApart('installation'),
      startReceiver(),
      startReceiver({ handler: reply(500) }),
    ]);
    operator = await system.account(OPERATOR_SCOPES);
    [acorn, birch] = await Promise.all([named('Acorn Arts'), named('Birch Books')]);
    await acorn.register(`${receiver.url}/acorn`, { description: 'Stock' });
    await birch.register(`${failing.url}/birch`);
  });
  after(async () => {
    await Promise.all([receiver?.close(), failing?.close()]);
    await system?.stop();
  });

  const named = async (name: string): Promise<ApiClient> => {
    const client = await system.account();
    const path = `/v18.0/accounts/${client.accountId}`;
    await operator.request('PATCH', path, { body: { name } });
    return client;
  };
  const get = async (path: string) => {
    const answer = await operator.request('GET', `/v18.0/installation/${path}`);
    assert.equal(answer.status, 200, answer.text);
    return answer.json;
  };
  const search = async (query: string) => {
    const answer = await operator.request('POST', '/v18.0/installation/search', { body: { query } });
    assert.equal(answer.status, 200, answer.text);
    return answer.json.data as { type: string; id: string; account: { id: string; name: string } }[];
  };
  const order = (id: string) => PURCHASE.replace('order-1', id);

  it('sees deliveries, endpoints and changes of all accounts with whose they are, and what makes the backlog', async () => {
    const [one, other] = await Promise.all([acorn.purchase(order('1001')), birch.purchase(order('1002'))]);
    const [delivered = { id: '' }] = one.deliveries;
    const [waiting = { id: '' }] = other.deliveries;
    await Promise.all([
      acorn.deliveryUntil(delivered.id, ({ status }) => status === 'delivered'),
      birch.deliveryUntil(waiting.id, ({ status }) => status === 'retrying'),
    ]);
    const rows = await until(
      async () => {
        const { data } = await get('deliveries?status=delivered,retrying&include=last_attempt,business_keys');
        return new Map<string, ShownRow>(data.map((row: { id: string }) => [row.id, row]));
      },
      (of) => of.has(delivered.id) && of.has(waiting.id),
    );
    assert.deepEqual(rows.get(delivered.id)?.account, { id: acorn.accountId, name: 'Acorn Arts' });
    assert.deepEqual(rows.get(waiting.id)?.account, { id: birch.accountId, name: 'Birch Books' });
    const { number, status_code } = rows.get(waiting.id)?.last_attempt ?? {};
    assert.deepEqual([number, status_code], [1, 500]);
    assert.deepEqual(rows.get(delivered.id)?.business_keys, [{ name: 'order_id', value: '1001' }]);
    assert.deepEqual(rows.get(waiting.id)?.business_keys, [{ name: 'order_id', value: '1002' }]);

    const ofBirch = ({ account }: { account: { id: string } }) => account.id === birch.accountId;
    // The endpoint is marked a moment before its incident tells of itself.
    const { data: failed } = await until(
      () => get('endpoints?health=failing'),
      ({ data }) =>
        data.filter(ofBirch).some(({ incident }: { incident?: object }) => incident !== undefined),
    );
    const [endpoint] = failed.filter(ofBirch);
    assert.equal(endpoint.account.name, 'Birch Books');
    assert.ok(endpoint.incident.failures >= 1);
    const { schemas } = JSON.parse(readFileSync('docs/openapi.json', 'utf8')).components;
    const absent = schemas.InstallationEndpoint.required.filter((field: string) => !(field in endpoint));
    assert.deepEqual(absent, []);

    // Others make changes, too, and a page has the latest.
    for (const { accountId } of [acorn, birch]) {
      const { data: changes } = await get(`changes?resource=account:${accountId}`);
      assert.equal(changes[0]?.account.id, accountId);
    }
    const { name } = (await operator.request('GET', '/v18.0/session')).json;
    const { data: mine } = await get(`changes?actor=${operator.keyId}&limit=1`);
    assert.equal(mine[0]?.actor.name, name);

    const stats = await until(
      () => get('stats'),
      ({ open, last_hour: { attempts } }) =>
        open.by_account.some(ofBirch) && attempts.failed > 0 && attempts.succeeded > 0,
    );
    const [share] = stats.open.by_account.filter(ofBirch);
    assert.deepEqual([share.deliveries, share.account.name], [1, 'Birch Books']);
    assert.ok(stats.open.by_endpoint.some((row: { endpoint_id: string }) => row.endpoint_id === endpoint.id));
    assert.equal(stats.last_hour.by_minute.length, 60);
    assert.ok(stats.last_hour.arrival_ms.p50 <= stats.last_hour.arrival_ms.p95);
    assert.ok(stats.failing_endpoints >= 1);
    assert.equal(stats.health.temporal, 'ok');
  });

  it('finds anything by its id, an order by its number in whichever account, an account by name and an endpoint by host', async () => {
    const event = await birch.purchase(order('4711-b'));
    const [delivery = { id: '', endpoint_id: '' }] = event.deliveries;
    const owner = { id: birch.accountId, name: 'Birch Books' };
    for (const query of ['order_id:4711-b', '4711-b']) {
      const found = await until(
        () => search(query),
        (data) => data.length > 0,
      );
      assert.deepEqual(
        found.map(({ type, id, account }) => ({ type, id, account })),
        [{ type: 'event', id: event.id, account: owner }],
      );
    }
    const filter = { endpoint_id: delivery.endpoint_id };
    const replay = await birch.request('POST', '/v18.0/replays', { body: { mode: 'failed', filter } });
    for (const [id, type] of [
      [event.id, 'event'],
      [replay.json.id, 'replay'],
      [delivery.id, 'delivery'],
      [delivery.endpoint_id, 'endpoint'],
      [birch.keyId, 'api_key'],
      [birch.accountId, 'account'],
    ] as const) {
      const [found] = await search(id);
      assert.deepEqual([found?.type, found?.id, found?.account], [type, id, owner]);
    }
    assert.deepEqual(
      (await search('birch b')).map(({ id }) => id),
      [birch.accountId],
    );
    const host = new URL(receiver.url).host;
    assert.ok(
      (await search(host)).some(({ type, account }) => type === 'endpoint' && account.id === acorn.accountId),
    );
    assert.deepEqual(await search('nothing-like-this'), []);
    assert.deepEqual(await search('.*'), []);
    assert.deepEqual(await search('evt_01M804PAPVVXYJD03F5Q49SAG6'), []);
  });

  it('nobody else gets any of it, nor the operator who acts for an account', async () => {
    const platform = await system.account(PLATFORM_SCOPES);
    const narrow = await system.account(['admin']);
    const asked: [string, string, object?][] = [
      ['GET', 'deliveries'],
      ['GET', 'endpoints'],
      ['GET', 'changes'],
      ['GET', 'stats'],
      ['POST', 'search', { body: { query: '4711-b' } }],
    ];
    for (const [method, path, options = {}] of asked) {
      const whole = `/v18.0/installation/${path}`;
      for (const client of [acorn, platform, narrow]) {
        const answer = await client.request(method, whole, options);
        assert.deepEqual(
          [answer.status, answer.json.code],
          [403, 'missing_scope'],
          `${path}: ${answer.text}`,
        );
        assert.ok(!answer.text.includes(birch.accountId));
      }
      const headers = { 'Hookline-Account': acorn.accountId };
      assert.equal((await operator.request(method, whole, { ...options, headers })).status, 403);
    }
    // The lists of an account are as before.
    const { data } = (await acorn.request('GET', '/v18.0/deliveries')).json;
    assert.ok(data.length > 0 && data.every((row: object) => !('account' in row)));
    const mine = await acorn.request('GET', `/v18.0/deliveries?key=order_id:4711-b`);
    assert.deepEqual(mine.json.data, []);
  });
});
