import { deepEqual, equal, match, ok as yes } from 'node:assert/strict';
import { once } from 'node:events';
import { Webhook } from 'standardwebhooks';
import { deleteExpiredListeners } from '../../../src/bin/service/listeners/listener-sweep.js';
import { OPERATOR } from '../../../src/domain/change/change.js';
import { LISTENER_LIMIT_MS, listenerUrl } from '../../../src/domain/listener/listener.js';
import { sharedNow } from '../../../src/domain/time/shared-time.js';
import { type ApiClient, apiClient, PURCHASE } from '../../support/api-client.js';
import { connectListener, openStream } from '../../support/outside/listener.js';
import { type SharedSystem, sharedSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

describe('a listener', () => {
  let system: SharedSystem;
  let client: ApiClient;
  before(async () => {
    system = await sharedSystem({ HOOKLINE_ENDPOINT_VERIFICATION: 'required', HOOKLINE_MAX_ENDPOINTS: '8' });
    client = await system.account();
  });

  async function create(who = client, body: object = {}) {
    const answer = await who.request('POST', '/v18.0/listeners', {
      body: { event_kinds: ['purchase'], ...body },
    });
    equal(answer.status, 201, answer.text);
    return answer.json as {
      id: string;
      secret: string;
      status: string;
      target_url: string;
      listener: boolean;
    };
  }
  const remove = (id: string) => client.request('DELETE', `/v18.0/endpoints/${id}`);

  it('receives deliveries with their signature over its stream, and what it answers is the attempt', async () => {
    const listener = await create();
    equal(listener.status, 'active');
    yes(listener.listener);
    const program = await connectListener(client, listener.id, ({ headers }) =>
      headers['webhook-attempt'] === '1'
        ? { type: 'response', status_code: 503, headers: { 'content-type': 'text/plain' }, body: 'not yet' }
        : { type: 'response', status_code: 204, headers: {}, body: '' },
    );
    const event = await client.purchase();
    const [first] = await program.waitFor(2);
    equal(first?.body, PURCHASE);
    equal(first?.headers['webhook-id'], event.id);
    new Webhook(listener.secret).verify(first?.body ?? '', first?.headers ?? {});
    const delivery = await client.deliveryUntil(
      event.deliveries[0]?.id ?? '',
      ({ status }) => status === 'delivered',
    );
    deepEqual(
      delivery.attempts.map(({ status_code }) => status_code),
      [503, 204],
    );
    equal(delivery.attempts[0]?.response_snippet, 'not yet');
    equal(delivery.attempts[0]?.url, listenerUrl(listener.id));
    await remove(listener.id);
    program.socket.close();
  });

  it('has deliveries wait while no program is connected, and gets them when one is', async () => {
    const listener = await create(client, { retry_schedule: ['1h'] });
    const event = await client.purchase();
    const id = event.deliveries.find(({ endpoint_id }) => endpoint_id === listener.id)?.id ?? '';
    const waiting = await client.deliveryUntil(id, ({ status }) => status === 'retrying');
    equal(waiting.attempts[0]?.error_code, 'listener_disconnected');
    const program = await connectListener(client, listener.id);
    await client.deliveryUntil(id, ({ status }) => status === 'delivered');
    equal(program.deliveries[0]?.headers['webhook-id'], event.id);
    await remove(listener.id);
    program.socket.close();
  });

  it('records why its receiver did not answer, and what it says of itself is checked', async () => {
    const listener = await create(client, { retry_schedule: ['1h', '1h', '1h'] });
    const replies = [
      { type: 'failure', error_code: 'connection_refused' },
      { type: 'failure', error_code: 'blocked_address' },
    ];
    const program = await connectListener(client, listener.id, () => replies.shift());
    const event = await client.purchase();
    const id = event.deliveries[0]?.id ?? '';
    // Connecting releases what waits for a listener, and on a slow machine that is this one as well: then the second
    // attempt is not by hand.
    const refused = await client.deliveryUntil(id, ({ attempts }) => attempts.length >= 1);
    equal(refused.attempts[0]?.error_code, 'connection_refused');
    match(refused.attempts[0]?.error ?? '', /receiver behind the listener refused/);
    await client.request('POST', `/v18.0/deliveries/${id}/retry`);
    equal(await program.closed, 4_400);
    const broken = await client.deliveryUntil(id, ({ attempts }) => attempts.length >= 2);
    equal(broken.attempts[1]?.error_code, 'listener_disconnected');
    await remove(listener.id);
  });

  it('is of its account alone', async () => {
    const listener = await create();
    const other = await system.account();
    equal((await other.request('POST', `/v18.0/listeners/${listener.id}/tickets`)).status, 404);
    const { json: own, headers } = await client.request('POST', `/v18.0/listeners/${listener.id}/tickets`);
    equal(headers.get('location'), own.path);
    const theirs = await create(other);
    for (const [id, ticket] of [
      [theirs.id, own.ticket],
      [listener.id, ''],
      [listener.id, client.key],
    ]) {
      const [{ message }] = await once(openStream(system.url, id, ticket), 'error');
      match(message, /401/);
    }
    const endpoint = await client.register('https://localhost:4443/');
    equal((await client.request('POST', `/v18.0/listeners/${endpoint.id}/tickets`)).status, 404);
    await Promise.all([remove(endpoint.id), remove(listener.id)]);
  });

  it('has its stream for as long as the session that asked for it: afterwards neither events nor its ticket', async () => {
    const sessions = `/v18.0/accounts/${client.accountId}/portal_sessions`;
    const { json: session } = await client.request('POST', sessions, { body: {} });
    const portal = apiClient(system.url, {
      accountId: client.accountId,
      key: session.token,
      keyId: session.id,
    });
    const listener = await create(portal, { retry_schedule: ['1h'] });
    const { json: spare } = await portal.request('POST', `/v18.0/listeners/${listener.id}/tickets`);
    const program = await connectListener(portal, listener.id);
    equal((await client.request('DELETE', `${sessions}/${session.id}`)).status, 204);
    const event = await client.purchase();
    const id = event.deliveries.find(({ endpoint_id }) => endpoint_id === listener.id)?.id ?? '';
    const waiting = await client.deliveryUntil(id, ({ status }) => status === 'retrying');
    equal(waiting.attempts[0]?.error_code, 'listener_disconnected');
    equal(await program.closed, 4_401);
    equal(program.deliveries.length, 0);
    const [{ message }] = await once(openStream(system.url, listener.id, spare.ticket), 'error');
    match(message, /401/);
    equal((await client.request('GET', `/v18.0/endpoints/${listener.id}`)).status, 200, 'the endpoint stays');
    await remove(listener.id);
  });

  it('has its stream opened by a ticket once, also if it is used twice at the same moment', async () => {
    const listener = await create();
    const { json } = await client.request('POST', `/v18.0/listeners/${listener.id}/tickets`);
    const open = async () => {
      const socket = openStream(system.url, listener.id, json.ticket);
      const outcome = await once(socket, 'open').then(
        () => 'open',
        ({ message }: Error) => message,
      );
      socket.on('error', () => {}).terminate();
      return outcome;
    };
    const outcomes = [...(await Promise.all([open(), open(), open()])), await open()];
    equal(outcomes.filter((outcome) => outcome === 'open').length, 1);
    equal(outcomes.filter((outcome) => outcome.includes('401')).length, 3);
    await remove(listener.id);
  });

  it('cannot be given another URL, and counts as an endpoint', async () => {
    const listener = await create();
    const path = `/v18.0/endpoints/${listener.id}`;
    const moved = await client.request('PATCH', path, { body: { target_url: 'https://shop.example.com/' } });
    equal(moved.json.errors[0].pointer, '/target_url');
    const paused = await client.request('POST', `${path}/pause`);
    deepEqual([paused.json.status, paused.json.listener], ['paused', true]);
    const others = await Promise.all(Array.from({ length: 7 }, () => create()));
    const beyond = await client.request('POST', '/v18.0/listeners', { body: { event_kinds: ['purchase'] } });
    equal(beyond.json.code, 'endpoint_limit_reached');
    await Promise.all([listener, ...others].map(({ id }) => remove(id)));
  });

  it('has one program at a time: the last one that connects', async () => {
    const listener = await create();
    const first = await connectListener(client, listener.id);
    const second = await connectListener(client, listener.id);
    equal(await first.closed, 4_409);
    await client.purchase();
    await second.waitFor(1);
    await remove(listener.id);
    second.socket.close();
  });

  it('is deleted when nobody has been connected for long, and not before', async () => {
    const [left, held] = [await create(), await create()];
    const made = sharedNow();
    const program = await connectListener(client, held.id);
    await until(
      () => system.database.listeners.holder(held.id),
      (holder) => holder === system.url,
    );
    const statuses = () =>
      Promise.all(
        [left, held].map(async ({ id }) => (await client.request('GET', `/v18.0/endpoints/${id}`)).status),
      );
    const released: string[] = [];
    const starter = {
      release: async ({ endpoint_id }: { endpoint_id: string }) => void released.push(endpoint_id),
    };
    await deleteExpiredListeners(system.database, starter, made + LISTENER_LIMIT_MS - 10_000);
    deepEqual(await statuses(), [200, 200]);
    await deleteExpiredListeners(system.database, starter, made + LISTENER_LIMIT_MS);
    await until(statuses, ([first]) => first === 404);
    deepEqual(await statuses(), [404, 200]);
    yes(released.includes(left.id) && !released.includes(held.id));
    const { json } = await client.request('GET', `/v18.0/changes?resource=endpoint:${left.id}`);
    deepEqual(json.data[0].actor, { type: 'system', id: 'listener' });
    // As a crash leaves it that comes between the endpoint's end and the release of its deliveries.
    const cut = await create();
    await system.database.endpoints.delete(client.accountId, cut.id, OPERATOR);
    await deleteExpiredListeners(system.database, starter, Date.now() + LISTENER_LIMIT_MS + 1);
    yes(released.includes(cut.id));
    program.socket.close();
  });
});
