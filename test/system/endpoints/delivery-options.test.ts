import assert from 'node:assert/strict';
import { createHmac, hash } from 'node:crypto';
import type { TLSSocket } from 'node:tls';
import { pino } from 'pino';
import { Webhook } from 'standardwebhooks';
import { type Service, startService } from '../../../src/bin/service.js';
import { issueServerCertificate } from '../../../src/demo/certificates.js';
import { MASKED_VALUE } from '../../../src/domain/endpoint/endpoint-headers.js';
import { connectDatabase } from '../../../src/models/database.js';
import { type ApiClient, apiClient } from '../../support/api-client.js';
import {
  type ReceivedRequest,
  type Receiver,
  reply,
  startReceiver,
  testAuthority,
  testCertificate,
} from '../../support/receiver.js';
import { type SharedSystem, sharedSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

const TOKEN = 'tok.of-the_receiver~1+/==';
const BEARER = { type: 'bearer', token: TOKEN };

describe('how deliveries are sent to an endpoint', () => {
  let system: SharedSystem;
  let client: ApiClient;
  let receiver: Receiver;

  before(async () => {
    system = await sharedSystem();
    receiver = await startReceiver();
  });
  beforeEach(async () => {
    client = await system.account();
    receiver.handle(reply(200));
  });
  after(() => receiver.close());

  const create = (more: object) =>
    client.request('POST', '/v18.0/endpoints', {
      body: { target_url: receiver.url, event_kinds: ['purchase'], ...more },
    });
  const patch = (id: string, body: object) => client.request('PATCH', `/v18.0/endpoints/${id}`, { body });
  /** A purchase to the account's only endpoint, when its delivery has had an attempt. */
  const attempted = async (by = client) => {
    const { deliveries } = await by.purchase();
    return client.deliveryUntil(deliveries[0]?.id ?? '', ({ attempts }) => attempts.length > 0);
  };

  it('is shown as it was set, with secrets masked, and stays when other settings change', async () => {
    const options = { attempt_timeout: '10s', max_concurrency: 3, authentication: BEARER };
    const { json, status, text } = await create(options);
    assert.equal(status, 201, text);
    const masked = { ...options, authentication: { ...BEARER, token: MASKED_VALUE } };
    const changed = await patch(json.id, { description: 'changed' });
    const read = await client.request('GET', `/v18.0/endpoints/${json.id}`);
    for (const shown of [json, changed.json, read.json])
      for (const [name, value] of Object.entries(masked)) assert.deepEqual(shown[name], value, name);
    await attempted();
    assert.equal(receiver.received.at(-1)?.headers['authorization'], `Bearer ${TOKEN}`);

    const without = await patch(json.id, { authentication: null, attempt_timeout: null });
    assert.deepEqual([without.json.authentication, without.json.attempt_timeout], [undefined, undefined]);
    assert.equal(without.json.max_concurrency, 3);
    await attempted();
    assert.equal(receiver.received.at(-1)?.headers['authorization'], undefined);
  });

  it('is refused with the place of each mistake', async () => {
    for (const [options, pointer] of [
      [{ attempt_timeout: '31s' }, '/attempt_timeout'],
      [{ attempt_timeout: '999ms' }, '/attempt_timeout'],
      [{ attempt_timeout: 'soon' }, '/attempt_timeout'],
      [{ max_concurrency: 0 }, '/max_concurrency'],
      [{ max_concurrency: 65 }, '/max_concurrency'],
      [{ max_concurrency: 1.5 }, '/max_concurrency'],
      [{ authentication: { type: 'basic' } }, '/authentication/type'],
      [{ authentication: { type: 'bearer', token: 'two words' } }, '/authentication/token'],
      [{ authentication: { type: 'bearer', token: MASKED_VALUE } }, '/authentication/token'],
      [{ payload_format: 'xml' }, '/payload_format'],
      [{ payload_format: 'cloudevents_binary', headers: { 'CE-Id': '1' } }, '/headers/CE-Id'],
      [{ legacy_signature: { header: 'x-s', value: 'v', secret: 's' } }, '/legacy_signature/value'],
      [{ legacy_signature: { header: 'x-s', signed: '{nonce}', secret: 's' } }, '/legacy_signature/signed'],
      [{ legacy_signature: { header: 'host', secret: 's' } }, '/legacy_signature/header'],
      [{ legacy_signature: { header: 'x-s', secret: 's' }, headers: { 'X-S': '1' } }, '/headers/X-S'],
      [{ authentication: BEARER, headers: { Authorization: 'Basic x' } }, '/headers/Authorization'],
    ] as const) {
      const { status, json } = await create(options);
      assert.equal(status, 400, JSON.stringify(options));
      assert.deepEqual(
        json.errors.map((error: { pointer: string }) => error.pointer),
        [pointer],
      );
    }
  });

  it('keeps its secrets out of changes, and tells that one has changed', async () => {
    const { json } = await create({ authentication: BEARER });
    await patch(json.id, { authentication: { token: 'another' } });
    const { text, json: changes } = await client.request(
      'GET',
      `/v18.0/changes?resource=endpoint:${json.id}`,
    );
    assert.ok(!text.includes(TOKEN) && !text.includes('another'));
    assert.ok(changes.data[0].changed.includes('/authentication/token'), text);
    await attempted();
    assert.equal(receiver.received.at(-1)?.headers['authorization'], 'Bearer another');
  });

  it('keeps a token out of what an endpoint answers with', async () => {
    receiver.handle((request, response) => void response.end(`you sent ${request.headers.authorization}`));
    await create({ authentication: BEARER });
    const { attempts } = await attempted();
    assert.ok(attempts[0]?.response_snippet?.startsWith('you sent Bearer '));
    assert.ok(!JSON.stringify(attempts).includes(TOKEN));
  });

  it('is a form of the event, which is signed and recorded as it is sent', async () => {
    const { json } = await create({
      payload_format: 'thin',
      legacy_signature: { header: 'X-Hub-Signature-256', value: 'sha256={signature}', secret: 'of-hub' },
    });
    assert.equal(json.legacy_signature.secret, MASKED_VALUE);
    for (const payload_format of ['thin', 'cloudevents_structured', 'cloudevents_binary', null]) {
      assert.equal((await patch(json.id, { payload_format })).status, 200);
      const { event_id, attempts } = await attempted();
      const { body, headers } = receiver.received.at(-1) as ReceivedRequest;
      new Webhook(json.secret).verify(body, headers);
      const sum = createHmac('sha256', 'of-hub').update(body).digest('hex');
      assert.equal(headers['x-hub-signature-256'], `sha256=${sum}`);
      const isOther = payload_format === 'thin' || payload_format === 'cloudevents_structured';
      assert.equal(attempts[0]?.format, payload_format ?? undefined);
      assert.equal(attempts[0]?.request_sha256, isOther ? hash('sha256', body) : undefined);
      assert.equal(attempts[0]?.request_bytes, body.length);
      if (payload_format === 'thin') {
        const { id, url } = JSON.parse(String(body));
        assert.equal(id, event_id);
        assert.ok(url.endsWith(`/v18.0/events/${event_id}`), url);
      }
    }
  });

  it('shows the endpoint’s own certificate to a receiver that asks for one', async () => {
    const [own, other] = await Promise.all(
      ['one', 'two'].map(async (name) =>
        issueServerCertificate(await testAuthority(), { dns: [name], ips: [] }),
      ),
    );
    const pair = { certificate: own?.cert ?? '', private_key: own?.key ?? '' };
    const mixed = await create({ client_certificate: { ...pair, private_key: other?.key } });
    assert.deepEqual([mixed.status, mixed.json.errors[0].pointer], [400, '/client_certificate']);
    const options = { ...(await testCertificate()), requestCert: true, rejectUnauthorized: false };
    const mutual = await startReceiver({
      certificate: options,
      handler: ({ socket }, response) =>
        void response.end((socket as TLSSocket).getPeerCertificate().subjectaltname ?? 'nobody'),
    });
    try {
      const { json } = await create({ target_url: mutual.url, client_certificate: pair });
      assert.equal(json.client_certificate.private_key, MASKED_VALUE);
      assert.equal((await attempted()).attempts[0]?.response_snippet, 'DNS:one');
      await patch(json.id, { client_certificate: null });
      assert.equal((await attempted()).attempts[0]?.response_snippet, 'nobody');
    } finally {
      await mutual.close();
    }
  });

  it('gives an attempt as much time as the endpoint says, and makes it once', async () => {
    receiver.handle((_, response) => void setTimeout(() => response.end(), 1_300));
    client = await (await sharedSystem({ HOOKLINE_ATTEMPT_TIMEOUT: '1s' })).account();
    await create({ attempt_timeout: '10s' });
    const before = receiver.received.length;
    const { status, attempts } = await attempted();
    assert.equal(status, 'delivered');
    assert.equal(attempts.length, 1);
    assert.ok((attempts[0]?.duration_ms ?? 0) >= 1_300);
    assert.equal(receiver.received.length, before + 1);
  });
});

describe('client credentials of an endpoint', () => {
  const SECRET = 'secret-of-the-client';
  let client: ApiClient;
  let receiver: Receiver;
  let server: Receiver;
  let valid: string;
  let given = 0;

  before(async () => {
    receiver = await startReceiver();
    server = await startReceiver();
  });
  beforeEach(async () => {
    client = await (await sharedSystem()).account();
    given = 0;
    valid = 'token-1';
    server.handle((_, response) => {
      given += 1;
      response.setHeader('content-type', 'application/json');
      response.end(
        JSON.stringify({ access_token: `token-${given}`, token_type: 'Bearer', expires_in: 3_600 }),
      );
    });
    receiver.handle(({ headers }, response) => {
      response.statusCode = headers.authorization === `Bearer ${valid}` ? 200 : 401;
      response.end(`not ${headers.authorization}`);
    });
  });
  after(async () => {
    await receiver.close();
    await server.close();
  });

  const registered = (more: object = {}) =>
    client.register(receiver.url, {
      retry_schedule: [],
      authentication: {
        type: 'oauth2',
        token_url: `${server.url}/token`,
        client_id: 'hook line',
        client_secret: SECRET,
        scope: 'events:write',
        ...more,
      },
    });
  const closed = async () => {
    const { deliveries } = await client.purchase();
    return client.deliveryUntil(deliveries[0]?.id ?? '', ({ status }) => status !== 'delivering');
  };

  it('fetch a token once for many deliveries, as RFC 6749 says', async () => {
    await registered();
    const deliveries = await Promise.all(Array.from({ length: 5 }, closed));
    assert.deepEqual(
      deliveries.map(({ status }) => status),
      Array(5).fill('delivered'),
    );
    assert.equal(given, 1);
    const { headers, body } = server.received.at(-1) as ReceivedRequest;
    const basic = atob(headers['authorization']?.replace('Basic ', '') ?? '').replace('+', ' ');
    assert.equal(decodeURIComponent(basic), `hook line:${SECRET}`);
    assert.deepEqual(Object.fromEntries(new URLSearchParams(String(body))), {
      grant_type: 'client_credentials',
      scope: 'events:write',
    });
  });

  it('fetch another token, once, when the receiver takes the one that is kept no longer', async () => {
    await registered();
    await closed();
    valid = 'token-2';
    const { status, attempts } = await closed();
    assert.deepEqual([status, attempts.length, given], ['delivered', 1, 2]);
    valid = 'none';
    const refused = await closed();
    assert.deepEqual([refused.status, refused.attempts.length, given], ['exhausted', 1, 3]);
    assert.equal(refused.attempts[0]?.status_code, 401);
    assert.ok(!JSON.stringify(refused).includes('token-3'));
  });

  it('that the server refuses fail the attempt with its error code, and nothing is sent', async () => {
    server.handle((_, response) => {
      response.writeHead(401, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: 'invalid_client', error_description: `not ${SECRET}` }));
    });
    const { id } = await registered({ client_auth: 'client_secret_post' });
    const before = receiver.received.length;
    const delivery = await closed();
    assert.equal(delivery.attempts[0]?.error_code, 'authorization_failed');
    assert.match(delivery.attempts[0]?.error ?? '', /token URL: it responded with 401 \(invalid_client\)$/);
    assert.equal(receiver.received.length, before);
    assert.ok(!JSON.stringify(delivery).includes(SECRET));
    const verdict = await client.request(
      'GET',
      `/v18.0/explain?endpoint_id=${id}&event_id=${delivery.event_id}`,
    );
    assert.match(
      verdict.json.summary,
      /^Attempt 1 failed: no access token .* it responded with 401 \(invalid_client\)/,
    );
    assert.equal(new URLSearchParams(String(server.received.at(-1)?.body)).get('client_secret'), SECRET);
  });

  it('go to public addresses by HTTPS alone, and to another URL only with their secret', async () => {
    const { id } = await registered();
    const change = async (authentication: object) => {
      const { status, json } = await client.request('PATCH', `/v18.0/endpoints/${id}`, {
        body: { authentication },
      });
      return [status, json.errors?.[0]?.pointer];
    };
    for (const token_url of [
      'http://example.com/token',
      'https://10.0.0.1/token',
      'https://example.com:1/token',
    ])
      assert.deepEqual(await change({ token_url, client_secret: 'x' }), [400, '/authentication/token_url']);
    const token_url = `${server.url}/other`;
    assert.deepEqual(await change({ token_url }), [400, '/authentication/client_secret']);
    assert.deepEqual(await change({ token_url, client_secret: SECRET }), [200, undefined]);
  });
});

describe('attempts at an endpoint that allows one at once', () => {
  let system: SharedSystem;
  let other: Service;
  let receiver: Receiver;
  let inFlight = 0;
  let most = 0;

  before(async () => {
    system = await sharedSystem();
    other = await startService(system.settings, 'all', pino({ level: 'silent' }));
    receiver = await startReceiver({
      handler: (_, response) => {
        inFlight += 1;
        most = Math.max(most, inFlight);
        setTimeout(() => {
          inFlight -= 1;
          response.end();
        }, 30);
      },
    });
  });
  after(async () => {
    await receiver.close();
    await other.stop();
  });

  it('are made one after another by all processes, and none is dropped [world]', async () => {
    const client = await system.account();
    const second = apiClient(other.url ?? '', client);
    await client.register(receiver.url, { max_concurrency: 1 });
    const events = await Promise.all(
      Array.from({ length: 12 }, (_, index) => (index % 2 === 0 ? client : second).purchase()),
    );
    const ids = events.map(({ deliveries }) => deliveries[0]?.id ?? '');
    const delivered = await Promise.all(
      ids.map((id) => client.deliveryUntil(id, ({ status }) => status === 'delivered')),
    );
    assert.equal(most, 1);
    assert.ok(delivered.every(({ attempts }) => attempts.length === 1));
  });
});

describe('leases for attempts', () => {
  it('are as many as the endpoint allows, in all processes, and end by themselves', async () => {
    const { settings } = await sharedSystem();
    const uri = settings.MONGODB_URI ?? '';
    const [one, two] = await Promise.all([connectDatabase(uri), connectDatabase(uri)]);
    try {
      const take = (by: typeof one, ms = 60_000) => by.attemptLeases.take('ep_leases', 3, ms);
      const taken = await Promise.all(Array.from({ length: 12 }, (_, index) => take(index % 2 ? one : two)));
      const held = taken.filter((lease) => lease !== undefined);
      assert.equal(held.length, 3);
      await held[0]?.release();
      assert.ok(await take(two, 1));
      // The lease of a millisecond is over soon.
      await until(
        () => take(one),
        (lease) => lease !== undefined,
      );
      assert.equal(await take(two), undefined);
    } finally {
      await Promise.all([one.close(), two.close()]);
    }
  });
});
