import assert from 'node:assert/strict';
import { SCOPES } from '../../../src/domain/access/api-key.js';
import { type ApiClient, PURCHASE } from '../../support/api-client.js';
import { type Receiver, startReceiver } from '../../support/receiver.js';
import { startSystem, type TestSystem } from '../../support/system.js';

interface Parameter {
  name: string;
  in: string;
}
interface Operation {
  operationId: string;
  parameters: Parameter[];
  requestBody?: unknown;
}

/** Bodies that are valid, so that a refusal is because of the id. */
const BODIES: Record<string, unknown> = {
  replaceEndpoint: { target_url: 'https://example.com/stolen', event_kinds: ['purchase'] },
  replaceEventKind: { schema: {} },
  replaceOAuthClient: { name: 'stolen', scopes: ['profile:read'] },
  replaceProfile: { username: 'stolen', name: 'Stolen' },
  putLogin: { login_name: 'thief', password: 'correct horse battery' },
};

describe('another account', () => {
  let system: TestSystem;
  let receiver: Receiver;
  let victim: ApiClient;
  let thief: ApiClient;
  /** An id of the victim's for each resource. */
  let ids: Record<string, string>;
  let marks: string[];

  before(async () => {
    system = await startSystem();
    receiver = await startReceiver();
    victim = await system.account(SCOPES);
    // Everything but what only the operator may.
    thief = await system.account(SCOPES.filter((scope) => scope !== 'admin'));
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
    const replay = await victim.request('POST', '/v18.0/replays', { body: { mode: 'failed' } });
    ids = {
      event_kinds: 'victims.kind',
      endpoints: endpoint.id,
      events: event.id,
      deliveries: delivery,
      profiles: profile.id,
      api_keys: key.id,
      oauth_clients: client.id,
      replays: replay.json.id,
      accounts: victim.accountId,
    };
    marks = [
      ...Object.values(ids).filter((id) => id !== victim.accountId),
      endpoint.secret,
      key.key,
      client.secret,
      'Secret Name',
      receiver.url,
      'order-of-the-victim',
    ];
  });
  after(async () => {
    await receiver.close();
    await system.stop();
  });

  const operations = async () => {
    const document = (await (await fetch(`${system.url}/openapi.json`)).json()) as {
      paths: Record<string, Record<string, Operation>>;
    };
    return Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({
        path,
        method: method.toUpperCase(),
        operation,
      })),
    );
  };

  it('learns nothing of an account by any operation, and changes nothing of it', async () => {
    const before = await snapshot(victim);
    const withIds = [];
    for (const { path, method, operation } of await operations()) {
      const ofEvents = operation.operationId === 'acceptEvent';
      const target = path.replace(/(\w+)\/\{\w+\}/g, (_, resource: string) => {
        return `${resource}/${ofEvents ? 'purchase' : ids[resource]}`;
      });
      assert.ok(!target.includes('undefined'), `no id of the victim's for ${path}`);
      const body = BODIES[operation.operationId] ?? {};
      const answer = await thief.request(method, target, operation.requestBody ? { body } : {});
      const what = `${method} ${target} answered ${answer.status}: ${answer.text.slice(0, 200)}`;
      const leaked = marks.filter((mark) => answer.text.includes(mark) && !target.includes(mark));
      assert.deepEqual(leaked, [], what);
      if (path.includes('{') && !ofEvents) {
        withIds.push(operation.operationId);
        assert.ok(answer.status === 404 || (answer.status === 403 && path.includes('/accounts/')), what);
      }
    }
    assert.ok(withIds.length >= 20, withIds.join());
    assert.deepEqual(await snapshot(victim), before);
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
