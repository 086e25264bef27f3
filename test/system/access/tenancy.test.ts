import assert from 'node:assert/strict';
import { ACCOUNT_SCOPES, PLATFORM_SCOPES } from '../../../src/domain/access/api-key.js';
import { OPERATOR } from '../../../src/domain/change/change.js';
import { type ApiClient, apiClient, PURCHASE } from '../../support/api-client.js';
import { type Receiver, startReceiver } from '../../support/receiver.js';
import { type SharedSystem, sharedSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

interface Parameter {
  name: string;
  in: string;
}
interface Operation {
  operationId: string;
  security: unknown[];
  parameters: Parameter[];
  requestBody?: unknown;
}

/** Subject of the victim's event. */
const SUBJECT = 'ada@example.com';
/** Operations whose paths name what every account may have, and no id of one. */
const NAMES = new Set([
  ...['acceptEvent', 'scheduleEvent', 'deleteSubject'],
  ...['getFeedConsumer', 'putFeedConsumer', 'deleteFeedConsumer'],
]);
/** Bodies that are valid, so that a refusal is because of the id. */
const BODIES: Record<string, unknown> = {
  tryEndpoint: { event_kinds: ['*'] },
  replaceEndpoint: { target_url: 'https://example.com/stolen', event_kinds: ['purchase'] },
  replaceEventKind: { schema: {} },
  replaceOAuthClient: { name: 'stolen', scopes: ['profile:read'] },
  replaceProfile: { username: 'stolen', name: 'Stolen' },
  eraseSubject: { subject: SUBJECT },
  changeScheduledEvent: { deliver_at: new Date(Date.now() + 7_200_000).toISOString() },
  putLogin: { login_name: 'thief', password: 'correct horse battery' },
};

/** Queries that are valid, likewise. */
const QUERIES: Record<string, string> = { listMissed: '?created_after=2026-01-01T00:00:00Z' };

/** Name of the account at the victim's platform. */
const REFERENCE = 'customer-of-another';
/** Operations that only a platform or the operator may use, whatever the id is. */
const ABOUT_ACCOUNTS = /^((update|delete)Account|endDeskSession)$/;
/** The operation with an id that is the operator's alone. */
const OF_OPERATORS = 'endDeskSession';
const isLast = ({ operationId }: Operation) => operationId === 'endSession';

describe('another account', () => {
  let system: SharedSystem;
  let receiver: Receiver;
  let victim: ApiClient;
  let thief: ApiClient;
  /** An id of the victim's for each resource. */
  let ids: Record<string, string>;
  let marks: string[];

  before(async () => {
    system = await sharedSystem();
    receiver = await startReceiver();
    victim = await ofPlatform(await system.account(PLATFORM_SCOPES), REFERENCE);
    thief = await system.account(ACCOUNT_SCOPES);
    const make = async (path: string, body: unknown) => {
      const answer = await victim.request('POST', `/v18.0${path}`, { body });
      assert.equal(answer.status, 201, answer.text);
      return answer.json;
    };
    const endpoint = await victim.register(receiver.url);
    const event = await victim.purchase(PURCHASE.replace('order-1', 'order-of-the-victim'));
    const delivery = event.deliveries[0]?.id ?? '';
    await victim.deliveryUntil(delivery, ({ status }) => status === 'delivered');
    const profile = await make('/profiles', { username: 'secret_user', name: 'Secret Name' });
    const key = await make('/api_keys', { name: 'secret key', scopes: ['profile:read'] });
    const client = await make('/oauth_clients', { name: 'secret client', scopes: ['profile:read'] });
    await victim.request('POST', '/v18.0/event_kinds', { body: { name: 'victims.kind', schema: {} } });
    const portal = await make(`/accounts/${victim.accountId}/portal_sessions`, { name: 'secret portal' });
    const { session: desk } = await system.database.deskSessions.create(
      {
        account_id: victim.accountId,
        ...{
          issuer: 'https://login.example.com',
          subject: 'secret subject',
          name: 'secret person',
          role: 'act',
        },
        expires_at: new Date(Date.now() + 86_400_000),
      },
      OPERATOR,
    );
    const listener = await make('/listeners', { event_kinds: ['endpoint.disabled'] });
    const inbox = await make('/inboxes', { event_kinds: ['endpoint.disabled'] });
    const scheduled = await victim.request('POST', '/v18.0/scheduled_events/purchase', {
      body: JSON.parse(PURCHASE),
      headers: { 'hookline-deliver-at': new Date(Date.now() + 86_400_000).toISOString() },
    });
    assert.equal(scheduled.status, 201, scheduled.text);
    const replay = await victim.request('POST', '/v18.0/replays', { body: { mode: 'failed' } });
    const other = await victim.purchase(PURCHASE.replace(SUBJECT, 'bob@example.com'));
    await victim.deliveryUntil(other.deliveries[0]?.id ?? '', ({ status }) => status === 'delivered');
    const erasure = await victim.request('POST', '/v18.0/subjects/erase', {
      body: { subject: 'bob@example.com' },
    });
    const changes = await victim.request('GET', '/v18.0/changes');
    // What lists show is compared, and that is not to change by itself any more.
    await until(
      async () => (await victim.request('GET', '/v18.0/deliveries')).json.data,
      (rows) => rows.length === 2 && rows.every((row: { closed_at?: string }) => row.closed_at !== undefined),
    );
    ids = {
      changes: changes.json.data[0].id,
      event_kinds: 'victims.kind',
      endpoints: endpoint.id,
      listeners: listener.id,
      inboxes: inbox.id,
      scheduled_events: scheduled.json.id,
      events: event.id,
      deliveries: delivery,
      profiles: profile.id,
      api_keys: key.id,
      oauth_clients: client.id,
      replays: replay.json.id,
      erasures: erasure.json.id,
      subjects: SUBJECT,
      accounts: victim.accountId,
      portal_sessions: portal.id,
      desk_sessions: desk.id,
      // A number and a name, which every account can have.
      void: '1',
      consumers: 'billing',
    };
    marks = [
      ...Object.values(ids).filter(
        (id) => ![victim.accountId, SUBJECT, ids['void'], ids['consumers']].includes(id),
      ),
      endpoint.secret,
      key.key,
      client.secret,
      portal.token,
      'Secret Name',
      receiver.url,
      'order-of-the-victim',
    ];
  });
  after(() => receiver.close());

  const operations = async () => {
    const document = (await (await fetch(`${system.url}/openapi.json`)).json()) as {
      paths: Record<string, Record<string, Operation>>;
    };
    const all = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({
        path,
        method: method.toUpperCase(),
        operation,
      })),
    );
    // What ends the caller's own session comes last.
    return all.sort((a, b) => Number(isLast(a.operation)) - Number(isLast(b.operation)));
  };

  /**
   * Tries every operation with the victim's ids.
   *
   * @param expected whether a status is right; `names`: the path has an id of the victim's
   */
  const tryAll = async (
    caller: ApiClient,
    expected: (status: number, names: boolean, operation: Operation) => boolean,
    headers: Record<string, string> = {},
  ) => {
    const before = await snapshot(victim);
    let named = 0;
    for (const { path, method, operation } of await operations()) {
      const ofEvents = ['acceptEvent', 'scheduleEvent'].includes(operation.operationId);
      const withIds = path.replace(/(\w+)\/\{\w+\}/g, (_, resource: string) => {
        return `${resource}/${ofEvents ? 'purchase' : ids[resource]}`;
      });
      const target = withIds + (QUERIES[operation.operationId] ?? '');
      assert.ok(!target.includes('undefined'), `no id of the victim's for ${path}`);
      const body = BODIES[operation.operationId] ?? {};
      const answer = await caller.request(method, target, {
        headers,
        ...(operation.requestBody !== undefined && { body }),
      });
      const what = `${method} ${target} answered ${answer.status}: ${answer.text.slice(0, 200)}`;
      const leaked = marks.filter((mark) => answer.text.includes(mark) && !target.includes(mark));
      assert.deepEqual(leaked, [], what);
      const names = path.includes('{') && !NAMES.has(operation.operationId);
      if (names) named += 1;
      // What needs no token, such as the log's checkpoints, answers everybody the same.
      const isOpen = operation.security.length === 0;
      assert.ok(answer.status < 500 && (isOpen || expected(answer.status, names, operation)), what);
    }
    assert.ok(named >= 30, `${named} operations with ids`);
    assert.deepEqual(await snapshot(victim), before);
  };

  it('learns nothing of an account by any operation, and changes nothing of it', () =>
    tryAll(
      thief,
      (status, names, { operationId }) => !names || status === (ABOUT_ACCOUNTS.test(operationId) ? 403 : 404),
    ));

  it('learns nothing with a portal session [world]', async () => {
    const { json } = await thief.request('POST', `/v18.0/accounts/${thief.accountId}/portal_sessions`);
    const portal = apiClient(system.url, { accountId: thief.accountId, key: json.token, keyId: json.id });
    await tryAll(portal, (status, names) => !names || status === 404 || status === 403);
  });

  it('learns nothing as another platform, by the account’s id or its platform’s reference [world]', async () => {
    const platform = await system.account(PLATFORM_SCOPES);
    const isRight = (status: number, names: boolean, { operationId, parameters }: Operation) => {
      if (parameters.some(({ name }) => name === 'Hookline-Account')) return status === 400;
      return !names || status === (operationId === OF_OPERATORS ? 403 : 404);
    };
    await tryAll(platform, isRight);
    for (const account of [victim.accountId, REFERENCE])
      await tryAll(platform, (status) => status === 404, { 'hookline-account': account });
  });

  it('does nothing at all with a key of an account that was deleted [world]', async () => {
    const gone = await ofPlatform(await system.account(PLATFORM_SCOPES), 'gone');
    const { json } = await gone.request('POST', `/v18.0/accounts/${gone.accountId}/portal_sessions`);
    await system.database.accounts.beginDeletion(gone.accountId, OPERATOR);
    for (const key of [gone.key, json.token]) {
      const caller = apiClient(system.url, { ...gone, key });
      await until(
        () => caller.request('GET', '/v18.0/session'),
        ({ status }) => status === 401,
      );
      await tryAll(caller, (status) => status === 401);
    }
  });

  it('learns nothing by filters or parts of ids', async () => {
    for (const path of [
      `/deliveries?endpoint_id=${ids['endpoints']}`,
      `/deliveries?event_id=${ids['events']}`,
      `/profiles?after=${ids['profiles']?.slice(0, -1)}`,
      `/api_keys?after=key_0`,
      `/changes?resource=endpoint:${ids['endpoints']}`,
      `/changes?resource=event_kind:${ids['event_kinds']}`,
      `/changes?actor=${victim.keyId}`,
    ]) {
      const { status, json, text } = await thief.request('GET', `/v18.0${path}`);
      assert.equal(status, 200, text);
      assert.ok(
        json.data.every((row: { account_id?: string }) => row.account_id === thief.accountId),
        text,
      );
    }
  });

  it('gets the same answer for an id that exists and for one that does not', async () => {
    const theirs = await thief.request('GET', `/v18.0/profiles/${ids['profiles']}`);
    const none = await thief.request('GET', '/v18.0/profiles/prof_00000000000000000000000000');
    const comparable = ({ json }: typeof theirs) => ({
      ...json,
      request_id: '',
      detail: json.detail.replace(/prof_\w+/, ''),
    });
    assert.deepEqual(comparable(theirs), comparable(none));
  });
});

/** Everything that an account can see of itself. */
async function snapshot(client: ApiClient): Promise<unknown[]> {
  const lists = ['endpoints', 'profiles', 'api_keys', 'oauth_clients', 'deliveries'];
  const answers = [];
  for (const list of lists) answers.push((await client.request('GET', `/v18.0/${list}`)).json.data);
  const [endpoint] = answers[0];
  answers.push((await client.request('GET', `/v18.0/endpoints/${endpoint.id}/secret`)).json);
  // When a key was last used is noted by the minute, whatever the thief does.
  return answers.map((rows) =>
    Array.isArray(rows) ? rows.map(({ last_used_at: _, ...row }: Record<string, unknown>) => row) : rows,
  );
}

/** An account of a platform, with a key of its own. */
async function ofPlatform(platform: ApiClient, reference: string): Promise<ApiClient> {
  const account = await platform.request('POST', '/v18.0/accounts', { body: { name: 'x', reference } });
  assert.equal(account.status, 201, account.text);
  const { json } = await platform.request('POST', '/v18.0/api_keys', {
    body: { name: 'own', scopes: ACCOUNT_SCOPES },
    headers: { 'hookline-account': account.json.id },
  });
  return apiClient(platform.url, { accountId: account.json.id, key: json.key, keyId: json.id });
}
