import assert from 'node:assert/strict';
import { API_KEY } from '../../../src/domain/access/api-key.js';
import { deliveryId } from '../../../src/domain/basics/delivery-id.js';
import { newId } from '../../../src/domain/basics/ids.js';
import type { ApiClient } from '../../support/api-client.js';
import { type Receiver, startReceiver } from '../../support/receiver.js';
import { type SharedSystem, sharedSystem } from '../../support/system.js';

describe('access to the API', () => {
  let system: SharedSystem;
  let receiver: Receiver;
  let client: ApiClient;

  before(async () => {
    system = await sharedSystem();
    receiver = await startReceiver();
    client = await system.account();
  });
  after(() => receiver.close());

  const get = async (path: string, authorization?: string) => {
    const response = await fetch(system.url + path, { headers: authorization ? { authorization } : {} });
    const json = (await response.json()) as { code?: string };
    return { status: response.status, headers: response.headers, json };
  };

  it('is given by a key in the header or in the query', async () => {
    assert.equal((await get('/v18.0/endpoints', `Bearer ${client.key}`)).status, 200);
    assert.equal((await get('/v18.0/endpoints', `bearer ${client.key}`)).status, 200);
    assert.equal((await get(`/v18.0/endpoints?access_token=${client.key}`)).status, 200);
  });

  const refused: [string, () => [string, string?], number, string][] = [
    ['no token', () => ['/v18.0/endpoints'], 401, 'missing_token'],
    ['an empty token', () => ['/v18.0/endpoints?access_token='], 401, 'missing_token'],
    ['another scheme', () => ['/v18.0/endpoints', `Basic ${client.key}`], 401, 'malformed_token'],
    ['a malformed token', () => ['/v18.0/endpoints', 'Bearer abc'], 401, 'malformed_token'],
    ['a mistyped token', () => ['/v18.0/endpoints', `Bearer ${client.key}x`], 401, 'malformed_token'],
    ['an unknown token', () => ['/v18.0/endpoints', `Bearer ${API_KEY.make()}`], 401, 'invalid_token'],
    [
      'a token both ways',
      () => [`/v18.0/endpoints?access_token=${client.key}`, `Bearer ${client.key}`],
      400,
      'ambiguous_token',
    ],
    [
      'two tokens',
      () => [`/v18.0/endpoints?access_token=${client.key}&access_token=${client.key}`],
      400,
      'ambiguous_token',
    ],
  ];
  for (const [what, request, status, code] of refused) {
    it(`is refused for ${what}: ${status} ${code}`, async () => {
      const answer = await get(...request());
      assert.equal(answer.status, status);
      assert.equal(answer.json.code, code);
      assert.match(answer.headers.get('www-authenticate') ?? '', /^Bearer realm="hookline"/);
      assert.ok(!JSON.stringify(answer.json).includes(client.key.slice(4)), 'the token is not repeated');
    });
  }

  const target = () => ({ target_url: receiver.url, event_kinds: ['purchase'] });
  const routes: [string, string, string, boolean?][] = [
    ['POST', '/v18.0/events/purchase', 'events:write', true],
    ['GET', '/v18.0/events', 'deliveries:read'],
    ['GET', `/v18.0/events/${newId('event')}`, 'deliveries:read'],
    ['GET', '/v18.0/deliveries', 'deliveries:read'],
    ['GET', '/v18.0/deliveries/dlv_x', 'deliveries:read'],
    ...['retry', 'cancel', 'pause', 'resume'].map((action): [string, string, string] => [
      'POST',
      `/v18.0/deliveries/dlv_x/${action}`,
      'deliveries:write',
    ]),
    ['POST', '/v18.0/endpoints', 'endpoints:write', true],
    ['GET', '/v18.0/endpoints', 'endpoints:read'],
    ['GET', '/v18.0/endpoints/ep_x', 'endpoints:read'],
    ['PUT', '/v18.0/endpoints/ep_x', 'endpoints:write', true],
    ['DELETE', '/v18.0/endpoints/ep_x', 'endpoints:write'],
    ['GET', '/v18.0/endpoints/ep_x/secret', 'secrets:read'],
    ['GET', '/v18.0/endpoints/ep_x/versions', 'changes:read'],
    ['GET', '/v18.0/changes', 'changes:read'],
    ['GET', '/v18.0/erasures', 'changes:read'],
    ['GET', '/v18.0/erasures/ers_x', 'changes:read'],
    ['POST', '/v18.0/subjects/erase', 'subjects:write'],
    ['DELETE', '/v18.0/subjects/ada', 'subjects:write'],
  ];
  for (const [method, path, scope, hasBody] of routes) {
    it(`to ${method} ${path.replace(/_[0-9A-Z]{26}/, '_…')} needs ${scope}`, async () => {
      const powerless = await system.account([]);
      const answer = await powerless.request(method, path, hasBody ? { body: target() } : {});
      assert.equal(answer.status, 403);
      assert.equal(answer.json.code, 'missing_scope');
      assert.ok(answer.json.detail.includes(scope));
      assert.match(answer.headers.get('www-authenticate') ?? '', new RegExp(`scope="${scope}"`));
    });
  }

  it('ends at the account: what is another’s is not there [world]', async () => {
    const endpoint = await client.register(receiver.url);
    const event = await client.purchase();
    const id = deliveryId({ event_id: event.id, endpoint_id: endpoint.id });
    await client.deliveryUntil(id, ({ status }) => status === 'delivered');
    const stranger = await system.account();
    const attempts: [string, string, boolean?][] = [
      ['GET', `/v18.0/events/${event.id}`],
      ['GET', `/v18.0/deliveries/${id}`],
      ...['retry', 'cancel', 'pause', 'resume'].map((action): [string, string] => [
        'POST',
        `/v18.0/deliveries/${id}/${action}`,
      ]),
      ['GET', `/v18.0/endpoints/${endpoint.id}`],
      ['GET', `/v18.0/endpoints/${endpoint.id}/secret`],
      ['PUT', `/v18.0/endpoints/${endpoint.id}`, true],
      ['DELETE', `/v18.0/endpoints/${endpoint.id}`],
    ];
    for (const [method, path, hasBody] of attempts) {
      const answer = await stranger.request(method, path, hasBody ? { body: target() } : {});
      assert.equal(answer.status, 404, `${method} ${path}: ${answer.text}`);
      assert.equal(answer.json.code, 'not_found');
    }
    for (const list of ['events', 'deliveries', 'endpoints']) {
      assert.deepEqual((await stranger.request('GET', `/v18.0/${list}`)).json.data, [], list);
    }
    assert.equal((await client.request('GET', `/v18.0/endpoints/${endpoint.id}`)).status, 200);
  });
});
