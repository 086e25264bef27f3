import assert from 'node:assert/strict';
import { OPERATOR_SCOPES } from '../../src/domain/access/api-key.js';
import { announcements, resolveVersion, VERSIONS } from '../../src/domain/http/versions.js';
import type { ApiClient } from '../support/api-client.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { matchSnapshot } from '../support/snapshot.js';
import { type SharedSystem, sharedSystem } from '../support/system.js';
import { shapeOf } from './shape.js';

/**
 * Responses that clients of a released version rely on. A recorded response never changes: what must be different goes
 * into a new version.
 */
describe('the contract of', () => {
  let system: SharedSystem;
  let receiver: Receiver;
  before(async () => {
    system = await sharedSystem();
    receiver = await startReceiver();
  });
  after(() => receiver.close());

  for (const { name } of VERSIONS) {
    it(name, async () => {
      matchSnapshot(
        `test/contract/${name}.json`,
        await record(await system.account(OPERATOR_SCOPES), name, receiver.url),
      );
    });
  }
});

/** Asks every kind of question once. @returns status and shape of each answer */
async function record(client: ApiClient, version: string, url: string): Promise<Record<string, unknown>> {
  const shapes: Record<string, unknown> = {};
  const ask = async (
    what: string,
    method: string,
    path: string,
    options?: Parameters<ApiClient['request']>[2],
    by = client,
  ) => {
    const { status, json } = await by.request(method, `/${version}${path}`, options);
    shapes[what] = { status, body: json === undefined ? null : shapeOf(json) };
    return json;
  };
  const endpoint = await ask('endpoint created', 'POST', '/endpoints', {
    body: { target_url: url, event_kinds: ['purchase'] },
  });
  await ask('endpoint', 'GET', `/endpoints/${endpoint.id}`);
  await ask('endpoints', 'GET', '/endpoints');
  const event = await client.purchase();
  shapes['event accepted'] = { status: 202, body: shapeOf(event) };
  const id = event.deliveries[0]?.id ?? '';
  await client.deliveryUntil(id, ({ status }) => status === 'delivered');
  await ask('event', 'GET', `/events/${event.id}`);
  await ask('delivery', 'GET', `/deliveries/${id}`);
  await ask('retry of a closed delivery', 'POST', `/deliveries/${id}/retry`);
  await ask('me', 'GET', '/me');
  await ask(
    'me, all fields',
    'GET',
    '/me?fields=id,username,name,biography,website,picture_url,followers_count,following_count,posts_count,created_at,updated_at',
  );
  await ask('me, unknown field', 'GET', '/me?fields=shoe_size');
  const profile = await ask('profile created', 'POST', '/profiles', {
    body: { username: 'ada', name: 'Ada' },
  });
  await ask('profile', 'GET', `/profiles/${profile.id}`);
  await ask('profiles', 'GET', '/profiles?limit=1');
  await ask('login', 'PUT', `/profiles/${profile.id}/login`, {
    body: { login_name: 'ada', password: 'difference engine' },
  });
  const key = await ask('key created', 'POST', '/api_keys', {
    body: { name: 'k', scopes: ['profile:read'] },
  });
  await ask('key', 'GET', `/api_keys/${key.id}`);
  await ask('key revoked', 'DELETE', `/api_keys/${key.id}`);
  const registered = await ask('client created', 'POST', '/oauth_clients', {
    body: { name: 'c', scopes: ['profile:read'] },
  });
  await ask('client replaced', 'PUT', `/oauth_clients/${registered.id}`, {
    body: { name: 'd', scopes: ['profile:read'] },
  });
  await ask('client secret rotated', 'POST', `/oauth_clients/${registered.id}/secret/rotate`, { body: {} });
  await ask('changes', 'GET', `/changes?resource=oauth_client:${registered.id}&limit=2`);
  // Without a worker it stays as it was made, however soon it is read.
  const idle = await (await sharedSystem({}, 'api')).account(OPERATOR_SCOPES);
  const body = { filter: { event_id: event.id } };
  const replay = await ask('replay created', 'POST', '/replays', { body }, idle);
  await ask('replay', 'GET', `/replays/${replay.id}`, {}, idle);
  await ask('dry run of a replay', 'POST', '/replays', { body: { dry_run: true } });
  await ask('replay with a contradiction', 'POST', '/replays', { body: { registration: 'now' } });
  await ask('account created', 'POST', '/accounts', { body: { name: 'Acme' } });
  await ask('not found', 'GET', '/profiles/prof_00000000000000000000000000');
  await ask('invalid body', 'POST', '/profiles', { body: {} });
  return shapes;
}

describe('versions', () => {
  it('that were withdrawn answer 410, unknown ones 404, both naming the current one; a missing one gets a hint', async () => {
    const system = await sharedSystem();
    const client = await system.account();
    for (const [path, status, code] of [
      ['/v17.0/me', 410, 'version_withdrawn'],
      ['/v99.0/me', 404, 'version_unknown'],
      ['/me', 404, 'not_found'],
    ] as const) {
      const { json, ...answer } = await client.request('GET', path);
      assert.equal(answer.status, status);
      assert.equal(json.code, code);
      assert.match(json.detail, /v18\.0/);
    }
  });

  it('announce their end when it is due (RFC 9745, RFC 8594)', () => {
    assert.deepEqual(announcements(resolveVersion('v18.0')), {});
    const due = {
      name: 'v18.0',
      deprecatedAt: new Date('2027-01-01T00:00:00Z'),
      sunsetAt: new Date('2028-01-01T00:00:00Z'),
    };
    assert.deepEqual(announcements(due), {
      deprecation: '@1798761600',
      sunset: 'Sat, 01 Jan 2028 00:00:00 GMT',
    });
  });
});
