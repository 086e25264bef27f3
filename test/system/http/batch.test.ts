import assert from 'node:assert/strict';
import { PLATFORM_SCOPES } from '../../../src/domain/access/api-key.js';
import { type ApiClient, apiClient, PURCHASE } from '../../support/api-client.js';
import { type SharedSystem, sharedSystem } from '../../support/system.js';

describe('a batch of reads', () => {
  let system: SharedSystem;
  let client: ApiClient;

  before(async () => {
    system = await sharedSystem();
    client = await system.account();
  });
  const batch = (reads: readonly string[], by = client) =>
    by.request('POST', '/v18.0/batch', { body: { reads } });

  it('answers each as it would by itself, in their order, digit for digit', async () => {
    const { id } = await client.purchase(PURCHASE.replace('12.5', '12.50000000000000000001'));
    const { status, json, text } = await batch([
      '/v18.0/me?fields=id',
      '/v18.0/nothing',
      `/v18.0/events/${id}?fields=payload`,
      '/v18.0/deliveries?fields=shoe_size',
      '/v99.0/me',
      '/v18.0/batch',
    ]);
    assert.equal(status, 200, text);
    assert.deepEqual(
      json.responses.map((response: { status: number }) => response.status),
      [200, 404, 200, 400, 404, 405],
    );
    assert.deepEqual(json.responses[0].body, (await client.request('GET', '/v18.0/me?fields=id')).json);
    assert.equal(json.responses[3].body.code, 'invalid_fields');
    assert.match(text, /12\.50000000000000000001/);
  });

  it('is for its caller alone: each read needs its scope, and another account is not found', async () => {
    const { id } = await client.register('https://subscriber.example/');
    const other = await system.account(['profile:read', 'endpoints:read']);
    await batch(['/v18.0/me', '/v18.0/deliveries']);
    const { json } = await batch(['/v18.0/me', `/v18.0/endpoints/${id}`, '/v18.0/deliveries'], other);
    assert.deepEqual(
      json.responses.map((response: { status: number }) => response.status),
      [200, 404, 403],
    );
    assert.deepEqual(json.responses[0].body, (await other.request('GET', '/v18.0/me')).json);
    const nobody = apiClient(system.url, { accountId: '', key: 'hlk_none', keyId: '' });
    assert.equal((await batch(['/v18.0/me'], nobody)).status, 401);
  });

  it('is for the account that its request names', async () => {
    const platform = await system.account(PLATFORM_SCOPES);
    const { json: account } = await platform.request('POST', '/v18.0/accounts', { body: { name: 'shop' } });
    const headers = { 'hookline-account': account.id };
    const endpoint = { target_url: 'https://subscriber.example/', event_kinds: ['purchase'] };
    const { json: own } = await platform.request('POST', '/v18.0/endpoints', { body: endpoint, headers });
    const body = { reads: ['/v18.0/endpoints?fields=id'] };
    const { json } = await platform.request('POST', '/v18.0/batch', { body, headers });
    assert.deepEqual(json.responses[0], {
      status: 200,
      body: { data: [{ id: own.id }], paging: { cursors: {} } },
    });
  });

  it('is of 1 to 50 paths of the API, and of no exports', async () => {
    for (const [reads, pointer] of [
      [[], '/reads'],
      [Array(51).fill('/v18.0/me'), '/reads'],
      [['https://example.com/'], '/reads/0'],
      [['/healthz'], '/reads/0'],
      [['/v18.0/me', '/v18.0/exports?from=2026-01-01'], '/reads/1'],
    ] as const) {
      const { status, json } = await batch(reads);
      assert.deepEqual([status, json.errors[0].pointer], [400, pointer]);
    }
    assert.equal((await batch(Array(50).fill('/v18.0/me'))).json.responses.length, 50);
  });

  it('counts each of its reads for the rate limits', async () => {
    const limited = await sharedSystem({ HOOKLINE_RATE_LIMIT_TOKEN: '4/1h' });
    const { json } = await batch(Array(5).fill('/v18.0/me'), await limited.account());
    const statuses = json.responses.map((response: { status: number }) => response.status).sort();
    assert.deepEqual(statuses, [200, 200, 200, 429, 429]);
  });
});
