import assert from 'node:assert/strict';
import { Webhook } from 'standardwebhooks';
import type { ApiClient } from '../../support/api-client.js';
import { type Handler, type Receiver, reply, startReceiver } from '../../support/receiver.js';
import { type SharedSystem, sharedSystem, startSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

const PUBLIC_URL = 'https://hooks.example.com/base';

describe('verification', () => {
  let system: SharedSystem;
  let client: ApiClient;
  let receiver: Receiver;

  before(async () => {
    system = await sharedSystem({
      HOOKLINE_ENDPOINT_VERIFICATION: 'required',
      HOOKLINE_VERIFICATION_SCHEDULE: Array(50).fill('100ms').join(','),
      HOOKLINE_PUBLIC_URL: PUBLIC_URL,
    });
    client = await system.account();
  });
  beforeEach(async () => {
    receiver = await startReceiver();
  });
  afterEach(() => receiver.close());

  const show = async (id: string) => (await client.request('GET', `/v18.0/endpoints/${id}`)).json;
  const untilStatus = (id: string, status: string) =>
    until(
      () => show(id),
      (endpoint) => endpoint.status === status,
    );
  const body = (more: object = {}) => ({ target_url: receiver.url, event_kinds: ['purchase'], ...more });

  /** Answers a challenge as a subscriber should. */
  const answerChallenge: Handler = (_request, response, received) => {
    const { challenge } = JSON.parse(received.toString());
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ challenge_response: challenge }));
  };
  const answerAsText: Handler = (_request, response, received) => {
    response.writeHead(200).end(`${JSON.parse(received.toString()).challenge}\n`);
  };

  it('asks with a signed challenge, and sends no event before the answer', async () => {
    receiver.handle(reply(200));
    const endpoint = await client.register(receiver.url);
    const [request] = await receiver.waitFor((all) => all.length >= 1);
    assert.ok(request);
    const challenge = new Webhook(endpoint.secret).verify(request.body, request.headers) as Record<
      string,
      string
    >;
    assert.equal(request.headers['webhook-event-kind'], 'endpoint.verification');
    assert.equal(challenge['endpoint_id'], endpoint.id);
    assert.ok(
      challenge['confirmation_url']?.startsWith(
        `${PUBLIC_URL}/v18.0/endpoint_verifications/${endpoint.id}?token=`,
      ),
    );

    const pending = await until(
      () => show(endpoint.id),
      ({ status_reason }) => /not with the token/.test(status_reason),
    );
    assert.equal(pending.status, 'pending');
    assert.equal((await client.purchase()).delivery_count, 0);
    const test = await client.request('POST', `/v18.0/endpoints/${endpoint.id}/test`);
    assert.equal(test.status, 409);
    assert.equal(test.json.code, 'endpoint_state_conflict');

    receiver.handle(answerChallenge);
    const active = await untilStatus(endpoint.id, 'active');
    assert.ok(active.verified_at);
    assert.equal(active.status_reason, undefined);
    const event = await client.purchase();
    assert.equal(event.delivery_count, 1);
    await receiver.waitFor((all) => all.some(({ headers }) => headers['webhook-id'] === event.id));
    const kinds = receiver.received.map(({ headers }) => headers['webhook-event-kind']);
    assert.equal(kinds.filter((kind) => kind === 'purchase').length, 1, 'what came before was not sent');
  });

  it('takes the token as text, and not from a server that repeats what it is sent', async () => {
    receiver.handle((_request, response, received) => void response.writeHead(200).end(received));
    const echo = await client.register(receiver.url);
    await receiver.waitFor((all) => all.length >= 2);
    assert.equal((await show(echo.id)).status, 'pending');
    receiver.handle(answerAsText);
    await untilStatus(echo.id, 'active');
  });

  it('tries again after errors', async () => {
    let asked = 0;
    receiver.handle((request, response, received) => {
      asked += 1;
      if (asked < 3) return void response.writeHead(503).end();
      return answerChallenge(request, response, received);
    });
    await untilStatus((await client.register(receiver.url)).id, 'active');
    assert.equal(asked, 3);
  });

  it('accepts a call of the confirmation URL, with the right token only', async () => {
    receiver.handle(reply(202));
    const endpoint = await client.register(receiver.url);
    const [request] = await receiver.waitFor((all) => all.length >= 1);
    const { confirmation_url } = JSON.parse(request?.body.toString() ?? '');
    const { search } = new URL(confirmation_url);
    const call = (id: string, query: string, method = 'GET', headers: Record<string, string> = {}) =>
      fetch(`${system.url}/v18.0/endpoint_verifications/${id}${query}`, { method, headers });
    for (const [id, query] of [
      [endpoint.id, ''],
      [endpoint.id, '?token=wrong'],
      [`ep_${'0'.repeat(26)}`, search],
      ['nothing', search],
    ] as const) {
      const refused = await call(id, query);
      assert.equal(refused.status, 403);
      assert.equal(((await refused.json()) as { code: string }).code, 'invalid_verification_token');
    }
    assert.equal((await call(endpoint.id, search, 'POST', { 'webhook-allowed-rate': 'fast' })).status, 400);
    assert.equal((await show(endpoint.id)).status, 'pending');
    const confirmed = await call(endpoint.id, search, 'POST', { 'webhook-allowed-rate': '120' });
    assert.equal(confirmed.status, 202);
    const active = await untilStatus(endpoint.id, 'active');
    assert.equal(active.allowed_rate, 120);
    assert.equal((await call(endpoint.id, search)).status, 403, 'the token has done its work');
  });

  it('asks by OPTIONS as CloudEvents does, and notes the rate that is allowed', async () => {
    receiver.handle(reply(200, { 'webhook-allowed-origin': 'somebody-else.example' }));
    const created = await client.request('POST', '/v18.0/endpoints', {
      body: body({ verification_method: 'cloudevents', rate_limit: 5 }),
    });
    const [request] = await receiver.waitFor((all) => all.length >= 1);
    assert.equal(request?.method, 'OPTIONS');
    assert.equal(request.headers['webhook-request-origin'], 'hooks.example.com');
    assert.equal(request.headers['webhook-request-rate'], '300');
    assert.ok(request.headers['webhook-request-callback']?.startsWith(PUBLIC_URL));
    await until(
      () => show(created.json.id),
      ({ status_reason }) => /did not name hooks\.example\.com/.test(status_reason),
    );
    receiver.handle(
      reply(200, { 'webhook-allowed-origin': 'hooks.example.com', 'webhook-allowed-rate': '600' }),
    );
    assert.equal((await untilStatus(created.json.id, 'active')).allowed_rate, 600);
  });

  it('asks by GET as the Graph API does', async () => {
    receiver.handle((request, response) => {
      const query = new URL(request.url ?? '', receiver.url).searchParams;
      const known =
        query.get('hub.mode') === 'subscribe' && query.get('hub.verify_token') === 'my-verify-token';
      response.writeHead(known ? 200 : 403).end(known ? query.get('hub.challenge') : '');
    });
    const created = await client.request('POST', '/v18.0/endpoints', {
      body: body({
        target_url: `${receiver.url}/hooks?team=1`,
        verification_method: 'graph',
        verify_token: 'my-verify-token',
      }),
    });
    assert.ok(!created.text.includes('my-verify-token'));
    await untilStatus(created.json.id, 'active');
    assert.match(receiver.received[0]?.path ?? '', /^\/hooks\?team=1&hub\.mode=subscribe/);
  });

  it('is due again for another URL; deliveries are parked until then, and an old answer counts for nothing [world]', async () => {
    receiver.handle(answerChallenge);
    const endpoint = await client.register(receiver.url);
    await untilStatus(endpoint.id, 'active');
    receiver.handle(reply(500));
    const moved = await client.request('PUT', `/v18.0/endpoints/${endpoint.id}`, {
      body: body({ target_url: `${receiver.url}/moved` }),
    });
    assert.equal(moved.json.status, 'pending');
    const again = await client.request('PUT', `/v18.0/endpoints/${endpoint.id}`, {
      body: body({ target_url: `${receiver.url}/moved`, description: 'a second time' }),
    });
    assert.equal(again.json.status, 'pending', 'the same URL sent again is not verified by that');
    const event = await client.purchase();
    const id = event.deliveries.find((delivery) => delivery.endpoint_id === endpoint.id)?.id ?? '';
    await client.deliveryUntil(id, ({ status }) => status === 'parked');
    receiver.handle((request, response, received) =>
      request.headers['webhook-event-kind'] === 'endpoint.verification'
        ? answerChallenge(request, response, received)
        : void response.writeHead(200).end(),
    );
    await client.request('POST', `/v18.0/endpoints/${endpoint.id}/verify`);
    const delivery = await client.deliveryUntil(id, ({ status }) => status === 'delivered');
    assert.equal(delivery.attempts.length, 1);
  });

  it('leaves an endpoint paused that was registered as paused', async () => {
    receiver.handle(answerChallenge);
    const created = await client.request('POST', '/v18.0/endpoints', { body: body({ status: 'paused' }) });
    assert.equal(created.json.status, 'pending');
    await untilStatus(created.json.id, 'paused');
  });
});

describe('verification of an endpoint that does not answer', () => {
  it('ends with a disabled endpoint and a reason, and can be started again [world]', async () => {
    const system = await startSystem({
      HOOKLINE_ENDPOINT_VERIFICATION: 'required',
      HOOKLINE_VERIFICATION_SCHEDULE: '50ms',
      // Time for both tries on a slow machine.
      HOOKLINE_VERIFICATION_LIMIT: '6s',
    });
    const receiver = await startReceiver({ handler: reply(404) });
    try {
      const client = await system.account();
      const { id } = await client.register(receiver.url);
      const path = `/v18.0/endpoints/${id}`;
      const show = async () => (await client.request('GET', path)).json;
      const disabled = await until(show, ({ status }) => status === 'disabled');
      assert.equal(disabled.status_reason, 'It was not verified within 6s. It responded with 404.');
      assert.equal(receiver.received.length, 2);
      assert.equal(JSON.parse(receiver.received[0]?.body.toString() ?? '').confirmation_url, undefined);
      assert.equal((await client.request('POST', `${path}/verify`)).status, 409);
      receiver.handle(
        (_request, response, received) =>
          void response.writeHead(200).end(JSON.parse(received.toString()).challenge),
      );
      await client.request('PUT', path, { body: { target_url: receiver.url, event_kinds: ['purchase'] } });
      await until(show, ({ status }) => status === 'active');
    } finally {
      await receiver.close();
      await system.stop();
    }
  });
});
