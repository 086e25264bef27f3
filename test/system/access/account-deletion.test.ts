import assert from 'node:assert/strict';
import mongoose from 'mongoose';
import type { ApiDependencies } from '../../../src/api/http/context.js';
import { createEndpoint } from '../../../src/api/routes/endpoints/write-endpoint.js';
import { OPERATOR_SCOPES, PLATFORM_SCOPES } from '../../../src/domain/access/api-key.js';
import { type Change, OPERATOR } from '../../../src/domain/change/change.js';
import { type ApiClient, apiClient, PURCHASE } from '../../support/api-client.js';
import { listed, purchases } from '../../support/parts/replays.js';
import { startServiceProcess } from '../../support/programs/process.js';
import { type Receiver, reply, startReceiver } from '../../support/receiver.js';
import { SHORT_WAITS, startSystem, type TestSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

/** With so few events for each, none of the endpoints fails so often that deliveries wait without an attempt. */
const EVENTS = 2;
/** With one more, which is paused, they are more than are released side by side. */
const ENDPOINTS = 5;
const RETRYING = EVENTS * ENDPOINTS;
const PARKED = 4;
const PAUSED = 2;
const OF_BYSTANDER = 2;
/** Collections that keep documents of a deleted account: its platform may read it, and names who acted in it. */
const KEPT = ['api_keys', 'changes', 'data_keys', 'deliveries', 'events', 'incidents', 'portal_sessions'];

describe('the deletion of an account [world]', () => {
  let system: TestSystem;
  let receiver: Receiver;
  let platform: ApiClient;

  before(async () => {
    // Processes that are killed do the work.
    system = await startSystem(SHORT_WAITS, 'api');
    receiver = await startReceiver({ handler: reply(500) });
    platform = await system.account(PLATFORM_SCOPES);
  });
  after(async () => {
    await receiver.close();
    await system.stop();
  });

  /** An account of the platform: its id, and a client with a key of its own. */
  const make = async (reference: string) => {
    const { json } = await platform.request('POST', '/v18.0/accounts', { body: { name: 'x', reference } });
    const key = await platform.request('POST', '/v18.0/api_keys', {
      body: { name: 'own', scopes: PLATFORM_SCOPES.filter((scope) => scope !== 'platform') },
      headers: { 'hookline-account': json.id },
    });
    const access = { accountId: json.id, key: key.json.key, keyId: key.json.id };
    return { id: json.id as string, client: apiClient(system.url, access) };
  };
  const running = async (accountId: string) => {
    const query = `HooklineAccount = '${accountId}' AND ExecutionStatus = 'Running'`;
    const ids: string[] = [];
    for await (const { type, workflowId } of system.temporal.client.workflow.list({ query }))
      ids.push(`${type} ${workflowId}`);
    return ids;
  };

  /** Collections that have documents of an account. */
  const keptOf = async (account_id: string) => {
    const connection = await mongoose.createConnection(system.environment['MONGODB_URI'] ?? '').asPromise();
    try {
      const names: string[] = [];
      for (const { name } of await connection.listCollections())
        if ((await connection.collection(name).countDocuments({ account_id })) > 0) names.push(name);
      return names.sort();
    } finally {
      await connection.close();
    }
  };

  it('ends deliveries, endpoints and access, survives the death of its process, and touches nothing of others', async () => {
    const first = await startServiceProcess(system.environment);
    const { id, client } = await make('leaver');
    const bystander = await make('stayer');
    for (let n = 0; n < ENDPOINTS; n++) await client.register(receiver.url);
    const ids = await purchases(client, EVENTS);
    await listed(client, 'status=retrying', RETRYING);
    // After those have their executions: deliveries of several accounts may share one.
    await bystander.client.register(receiver.url);
    const kept = await purchases(bystander.client, OF_BYSTANDER);
    for (const one of ids.slice(0, PAUSED))
      assert.equal((await client.request('POST', `/v18.0/deliveries/${one}/pause`)).status, 200);
    const paused = await client.register(receiver.url, { status: 'paused' });
    for (let n = 0; n < PARKED; n++) await client.request('POST', `/v18.0/endpoints/${paused.id}/test`);
    await listed(client, 'status=parked', PARKED + PAUSED);
    const scheduled = '/v18.0/scheduled_events/purchase?deliver_after=P30D';
    assert.equal((await client.request('POST', scheduled, { raw: PURCHASE })).status, 201);
    const consumer = { body: { from: '2026-11-28T00:00:00Z' } };
    assert.equal((await client.request('PUT', '/v18.0/feed/consumers/warehouse', consumer)).status, 200);
    const oauth = await client.request('POST', '/v18.0/oauth_clients', {
      body: { name: 'shop', scopes: ['deliveries:read'] },
    });
    const token = await fetch(`${system.url}/oauth/token`, {
      method: 'POST',
      headers: { authorization: `Basic ${btoa(`${oauth.json.id}:${oauth.json.secret}`)}` },
      body: new URLSearchParams({ grant_type: 'client_credentials', scope: 'deliveries:read' }),
    });
    const { access_token } = (await token.json()) as { access_token: string };
    const portal = await client.request('POST', `/v18.0/accounts/${id}/portal_sessions`);

    const deleted = await platform.request('DELETE', `/v18.0/accounts/${id}`);
    assert.equal(deleted.status, 202, deleted.text);
    assert.equal(deleted.json.status, 'deleting');
    for (const key of [client.key, access_token, portal.json.token]) {
      const headers = { authorization: `Bearer ${key}` };
      const refused = await client.request('GET', '/v18.0/deliveries', { headers });
      assert.deepEqual([refused.status, refused.json.code], [401, 'revoked_token']);
    }
    const account = { 'hookline-account': id };
    const post = await platform.request('POST', '/v18.0/events/purchase', { body: {}, headers: account });
    assert.deepEqual([post.status, post.json.code], [409, 'account_state_conflict']);
    const read = async () => (await platform.request('GET', `/v18.0/accounts/${id}`)).json;
    await until(read, ({ deletion }) => deletion?.endpoints_deleted === ENDPOINTS + 1);
    await first.kill();

    const heir = await startSystem(system.environment, 'worker');
    try {
      const over = await until(read, ({ status }) => status === 'deleted');
      assert.equal(over.deletion.stage, 'done');
      assert.equal(await system.database.scheduled.count(id), 0);
      assert.ok(over.deletion.credentials_ended >= 3, JSON.stringify(over.deletion));
      const rows = await listed({ ...platform, request: withAccount(platform, id) }, '', RETRYING + PARKED);
      assert.equal(new Set(rows).size, RETRYING + PARKED);
      const all = await listed(
        { ...platform, request: withAccount(platform, id) },
        'status=cancelled',
        RETRYING + PARKED,
      );
      assert.deepEqual(new Set(all), new Set(rows));
      await until(
        () => running(id),
        (ids) => ids.length === 0,
      );
      assert.deepEqual(await keptOf(id), KEPT);

      assert.deepEqual(
        new Set(await listed(bystander.client, 'status=retrying', OF_BYSTANDER)),
        new Set(kept),
      );
      assert.equal((await bystander.client.request('GET', '/v18.0/endpoints')).json.data.length, 1);
      assert.ok((await running(bystander.id)).length > 0);
    } finally {
      await heir.stop();
    }

    const changes = await platform.request('GET', `/v18.0/changes?resource=account:${id}`, {
      headers: account,
    });
    assert.deepEqual(
      changes.json.data.map(({ action, actor }: Change) => [action, actor.id, actor.account_id]),
      [
        ['updated', 'deletion', undefined],
        ['deleted', platform.keyId, platform.accountId],
        ['created', platform.keyId, platform.accountId],
      ],
    );
    const again = await platform.request('DELETE', `/v18.0/accounts/${id}`);
    assert.deepEqual([again.status, again.json.status], [202, 'deleted']);
    const successor = await platform.request('POST', '/v18.0/accounts', {
      body: { name: 'y', reference: 'leaver' },
    });
    assert.equal(successor.status, 201, successor.text);
  });

  it('lets no request register an endpoint that was accepted before and waited for its turn', async () => {
    const { id } = await make('waiting');
    const { database, settings } = system;
    await database.accounts.beginDeletion(id, OPERATOR);
    const endpointWorkflows = { verify: () => assert.fail('it is verified') };
    const dependencies = { database, settings, endpointWorkflows } as unknown as ApiDependencies;
    const input = { target_url: 'https://example.com/', event_kinds: ['purchase'] };
    await assert.rejects(
      createEndpoint(dependencies, id, input as Parameters<typeof createEndpoint>[2], OPERATOR),
      { code: 'account_state_conflict' },
    );
    assert.equal(await database.endpoints.count(id), 0);
  });

  it('is refused to the account itself, and of a platform that has accounts', async () => {
    const operator = await system.account(OPERATOR_SCOPES);
    const remove = (by: ApiClient, id: string) => by.request('DELETE', `/v18.0/accounts/${id}`);
    const itself = await remove(operator, operator.accountId);
    assert.deepEqual([itself.status, itself.json.code], [409, 'account_state_conflict']);
    await make('one');
    const ofPlatform = await remove(operator, platform.accountId);
    assert.deepEqual([ofPlatform.status, ofPlatform.json.code], [409, 'account_state_conflict']);
    assert.equal((await remove(platform, platform.accountId)).status, 403);
    const other = await system.account(PLATFORM_SCOPES);
    const { id, client } = await make('two');
    assert.equal((await remove(other, id)).status, 404);
    assert.equal((await remove(client, id)).status, 403);
  });
});

/** Sends a client's requests for an account. */
function withAccount(client: ApiClient, account: string): ApiClient['request'] {
  return (method, path, options = {}) =>
    client.request(method, path, {
      ...options,
      headers: { ...options.headers, 'hookline-account': account },
    });
}
