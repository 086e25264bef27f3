import assert from 'node:assert/strict';
import { connectDatabase, type Database } from '../../../src/models/database.js';
import { connectTemporal, type TemporalConnection } from '../../../src/temporal/server/connection.js';
import { type ApiClient, PURCHASE } from '../../support/api-client.js';
import { fetchHistory, toJson } from '../../support/history.js';
import { Browser, logInAndAllow, newPerson } from '../../support/oauth.js';
import { type ServiceProcess, startServiceProcess } from '../../support/programs/process.js';
import { type Receiver, startReceiver } from '../../support/receiver.js';
import { temporalOfRun } from '../../support/servers.js';
import { newAccount, testEnvironment } from '../../support/system.js';
import { until } from '../../support/until.js';

const REDIRECT_URI = 'http://127.0.0.1:9/callback';
/** `code_challenge` of the verifier of RFC 7636, appendix B. */
const VERIFIER = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
const CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';

describe('the log of the service [world]', () => {
  let environment: Record<string, string>;
  let database: Database;
  let temporal: TemporalConnection;
  let receiver: Receiver;
  let service: ServiceProcess;
  let client: ApiClient;

  before(async () => {
    environment = await testEnvironment({ HOOKLINE_RETRY_SCHEDULE: '20ms' });
    // An endpoint that sends back what it was sent, as debugging tools do, and never succeeds.
    receiver = await startReceiver({
      handler: (_request, response, body) => void response.writeHead(500).end(body),
    });
    database = await connectDatabase(environment['MONGODB_URI'] ?? '');
    temporal = await connectTemporal(temporalOfRun());
    service = await startServiceProcess(environment);
    client = await newAccount(database, service.url);
  });
  after(async () => {
    await service.kill();
    await temporal.close();
    await database.close();
    await receiver.close();
  });

  it('has no warnings in normal operation, even for full groups', async () => {
    const healthy = await startReceiver();
    try {
      const account = await newAccount(database, service.url);
      await account.register(healthy.url);
      await Promise.all(Array.from({ length: 120 }, () => account.purchase()));
      await healthy.waitFor((all) => all.length >= 120);
    } finally {
      await healthy.close();
    }
    // On a starved machine a workflow task may end too late, and is done again.
    const noisy = service.lines.filter(
      (line) => /"level":"(warn|error|fatal)"/.test(line) && !line.includes('Workflow task not found'),
    );
    assert.deepEqual(noisy, []);
  });

  it('holds no token, secret, payload or address of a customer, and names every request', async () => {
    const { secret } = await client.register(`${receiver.url}/hook?token=of-the-subscriber`);
    const event = await client.purchase();
    await client.deliveryUntil(event.deliveries[0]?.id ?? '', ({ status }) => status === 'exhausted');
    await fetch(`${service.url}/v18.0/events/${event.id}?access_token=${client.key}`);
    await fetch(`${service.url}/v18.0/events?limit=x&access_token=${client.key}`);
    await client.request('POST', '/v18.0/events/purchase', { raw: PURCHASE.replace('12.5', '"ada@x.org"') });
    await client.request('POST', '/v18.0/events/purchase', { raw: `${PURCHASE}ada@x.org` });
    const mistyped = await client.request('GET', '/v18.0/events', {
      headers: { authorization: `Bearer ${client.key}x` },
    });
    assert.equal(mistyped.status, 401);
    const last = mistyped.headers.get('x-request-id') ?? '';
    await until(
      () => service.lines,
      (lines) => lines.some((line) => line.includes(`"request_id":"${last}"`)),
    );

    const requests = service.lines.filter((line) => line.includes('"msg":"request"'));
    assert.ok(requests.length >= 7);
    for (const line of requests) assert.match(line, /"level":"(info|warn)"/);
    assert.ok(requests.every((line) => /"request_id":"req_/.test(line)));
    const log = service.lines.join('\n');
    for (const [what, text] of Object.entries({
      'the API key': client.key.slice(4, 24),
      'the signing secret': secret.slice(6, 26),
      'an e-mail address': 'ada@',
      'the payload': 'order-1',
      'the token in a target URL': 'of-the-subscriber',
      'the name of a parameter for tokens': 'access_token',
    })) {
      const line = service.lines.find((one) => one.includes(text));
      assert.ok(!log.includes(text), `${what} stands in the log: ${line?.slice(0, 300)}`);
    }
  });

  it('has no token or password, nor has an error, a link, a metric or a history', async () => {
    client = await newAccount(database, service.url);
    const begun = new Date();
    const answers: string[] = [];
    const ask = async (path: string, init: RequestInit = {}) => {
      const text = await (await fetch(service.url + path, init)).text();
      answers.push(text);
      return text;
    };
    const form = (fields: Record<string, string>): RequestInit => ({
      method: 'POST',
      body: new URLSearchParams(fields),
    });

    // Everything that is secret comes to be.
    const person = await newPerson({ database }, client);
    const { loginName: login_name, password } = person;
    const login = { login_name, password, scopes: ['profile:read'] };
    const path = `/v18.0/profiles/${person.profileId}/login`;
    assert.equal((await client.request('PUT', path, { body: login })).status, 200);
    const registered = await client.request('POST', '/v18.0/oauth_clients', {
      body: {
        name: 'test',
        scopes: ['profile:read', 'deliveries:read'],
        grant_types: ['authorization_code', 'refresh_token', 'client_credentials'],
        redirect_uris: [REDIRECT_URI],
        token_endpoint_auth_method: 'client_secret_post',
      },
    });
    const { id: client_id, secret: client_secret } = registered.json;
    const query = new URLSearchParams({
      client_id,
      redirect_uri: REDIRECT_URI,
      response_type: 'code',
      scope: 'profile:read',
      code_challenge: CHALLENGE,
      code_challenge_method: 'S256',
    });
    const redirect = await logInAndAllow(new Browser(), `${service.url}/oauth/authorize?${query}`, person);
    const code = redirect.searchParams.get('code') ?? '';
    const token = async (fields: Record<string, string>) => {
      const response = await fetch(
        `${service.url}/oauth/token`,
        form({ client_id, client_secret, ...fields }),
      );
      return (await response.json()) as { access_token: string; refresh_token: string };
    };
    const first = await token({
      grant_type: 'authorization_code',
      code,
      redirect_uri: REDIRECT_URI,
      code_verifier: VERIFIER,
    });
    const renewed = await token({ grant_type: 'refresh_token', refresh_token: first.refresh_token });
    const own = await token({ grant_type: 'client_credentials', scope: 'deliveries:read' });
    const { json: portal } = await client.request(
      'POST',
      `/v18.0/accounts/${client.accountId}/portal_sessions`,
    );
    const secrets = {
      'the API key': client.key,
      'the password': person.password,
      'the client secret': client_secret,
      'the code': code,
      'the access token': first.access_token,
      'the refresh token': first.refresh_token,
      'the renewed access token': renewed.access_token,
      'the renewed refresh token': renewed.refresh_token,
      'the client’s access token': own.access_token,
      'the portal token': portal.token,
    };
    for (const [what, secret] of Object.entries(secrets)) assert.ok(secret?.length >= 20, what);

    // Everything is used, rightly and wrongly, in the query above all.
    await client.register(`${receiver.url}/hook`);
    for (let n = 0; n < 2; n++) {
      const path = `/v18.0/events/purchase?access_token=${client.key}`;
      await ask(path, { method: 'POST', body: PURCHASE, headers: { 'content-type': 'application/json' } });
    }
    await until(
      async () => (await client.request('GET', '/v18.0/deliveries?status=exhausted')).json.data.length,
      (count) => count === 2,
    );
    for (const secret of [
      client.key,
      portal.token,
      first.access_token,
      own.access_token,
      renewed.refresh_token,
    ]) {
      await ask(`/v18.0/me?access_token=${secret}`);
      await ask(`/v18.0/me?fields=x&access_token=${secret}`);
      await ask(`/v18.0/me?access_token=${secret}x`);
      await ask(`/v18.0/deliveries?limit=1&access_token=${secret}`);
      await ask(`/v17.0/me?access_token=${secret}`);
      await ask(`/nothing?access_token=${secret}`);
    }
    await ask(
      '/oauth/token',
      form({ client_id, client_secret, grant_type: 'refresh_token', refresh_token: first.refresh_token }),
    );
    await ask(
      '/oauth/token',
      form({
        client_id,
        client_secret,
        grant_type: 'authorization_code',
        code,
        redirect_uri: REDIRECT_URI,
        code_verifier: VERIFIER,
      }),
    );
    await ask('/oauth/revoke', form({ client_id, client_secret, token: own.access_token }));
    await ask('/metrics');
    const paged = answers.filter((text) => text.includes('"next":"/v18.0/deliveries'));
    assert.equal(paged.length, 3, 'the pages of the key, the portal and the client');

    const histories = [];
    for await (const { workflowId, runId } of temporal.client.workflow.list({
      query: `TaskQueue = '${environment['HOOKLINE_TASK_QUEUE']}' AND StartTime >= '${begun.toISOString()}'`,
    })) {
      const json = toJson(await fetchHistory({ temporal }, workflowId, runId));
      histories.push(json, ...decoded(json));
    }
    assert.ok(
      histories.some((text) => text.includes('attempt_timeout_ms')),
      'the histories can be read',
    );

    service.terminate();
    assert.equal(await service.exited, 0);
    assert.ok(service.lines.length > 30);
    for (const [what, secret] of Object.entries(secrets)) {
      for (const [where, texts] of Object.entries({ log: service.lines, answers, histories })) {
        const found: string | undefined = texts.find(
          (text) => text.includes(secret) || text.includes(encodeURIComponent(secret)),
        );
        assert.equal(found, undefined, `${what} stands in the ${where}`);
      }
    }
  });
});

/** Texts in base 64 in a history: payloads. */
function decoded(json: string): string[] {
  return [...json.matchAll(/"data": *"([A-Za-z0-9+/=]+)"/g)].map(([, data = '']) =>
    Buffer.from(data, 'base64').toString(),
  );
}
