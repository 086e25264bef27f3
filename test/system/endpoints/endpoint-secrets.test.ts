import assert from 'node:assert/strict';
import { createPublicKey, verify } from 'node:crypto';
import mongoose from 'mongoose';
import { pino } from 'pino';
import { Webhook } from 'standardwebhooks';
import { rotationWorkflowId } from '../../../src/domain/ledger/workflow-ids.js';
import { type ApiClient, PURCHASE } from '../../support/api-client.js';
import { fetchHistory } from '../../support/history.js';
import { hasPython, runPython } from '../../support/programs/python.js';
import { type ReceivedRequest, type Receiver, reply, startReceiver } from '../../support/receiver.js';
import { startSystem, type TestSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

describe('signing secrets', () => {
  let system: TestSystem;
  let receiver: Receiver;
  let client: ApiClient;
  const log: string[] = [];

  before(async () => {
    const logger = pino({ level: 'trace' }, { write: (line) => void log.push(line) });
    system = await startSystem({}, 'all', logger);
    receiver = await startReceiver();
    client = await system.account();
  });
  after(async () => {
    await receiver.close();
    await system.stop();
  });

  const rotate = async (id: string, body: object) => {
    const answer = await client.request('POST', `/v18.0/endpoints/${id}/secret/rotate`, { body });
    assert.equal(answer.status, 200, answer.text);
    return answer.json as { secret: string; public_key?: string; previous_expires_at?: string };
  };
  const deliver = async (endpointId: string): Promise<ReceivedRequest> => {
    const event = await client.request('POST', `/v18.0/endpoints/${endpointId}/test`);
    assert.equal(event.status, 202, event.text);
    const all = await receiver.waitFor((requests) =>
      requests.some(({ headers }) => headers['webhook-id'] === event.json.id),
    );
    return all.find(({ headers }) => headers['webhook-id'] === event.json.id) as ReceivedRequest;
  };
  const verifies = (secret: string, { body, headers }: ReceivedRequest): boolean => {
    try {
      new Webhook(secret).verify(body, headers);
      return true;
    } catch {
      return false;
    }
  };

  it('sign what the JavaScript library verifies, and nothing that was altered', async () => {
    const endpoint = await client.register(receiver.url);
    const request = await deliver(endpoint.id);
    assert.ok(verifies(endpoint.secret, request));
    for (let at = 0; at < request.body.length; at += 1) {
      const body = Buffer.from(request.body);
      body[at] = (body[at] ?? 0) ^ 1;
      assert.ok(!verifies(endpoint.secret, { ...request, body }), `byte ${at}`);
    }
    const old = String(Number(request.headers['webhook-timestamp']) - 301);
    assert.throws(
      () =>
        new Webhook(endpoint.secret).verify(request.body, { ...request.headers, 'webhook-timestamp': old }),
      /timestamp too old/i,
    );
    const other = await client.register(receiver.url);
    assert.ok(!verifies(other.secret, request));
  });

  it('sign what Python verifies from the specification alone', async function () {
    if (!hasPython()) return this.skip();
    const endpoint = await client.register(receiver.url);
    const { body, headers } = await deliver(endpoint.id);
    const program = `
import base64, hashlib, hmac, json, sys
given = json.load(sys.stdin)
key = base64.b64decode(given["secret"].removeprefix("whsec_"))
body = base64.b64decode(given["body"])
text = f'{given["headers"]["webhook-id"]}.{given["headers"]["webhook-timestamp"]}.'.encode() + body
expected = base64.b64encode(hmac.new(key, text, hashlib.sha256).digest()).decode()
given_signatures = [part.split(",", 1)[1] for part in given["headers"]["webhook-signature"].split(" ") if part.startswith("v1,")]
print(any(hmac.compare_digest(expected, one) for one in given_signatures))`;
    const input = (secret: string) => JSON.stringify({ secret, headers, body: body.toString('base64') });
    assert.equal((await runPython(program, input(endpoint.secret))).trim(), 'True');
    assert.equal(
      (await runPython(program, input(`whsec_${Buffer.alloc(32).toString('base64')}`))).trim(),
      'False',
    );
  });

  it('are both used while a rotation overlaps, and the old one is not used any longer [world]', async () => {
    const endpoint = await client.register(receiver.url);
    // Long enough for a delivery within it on a slow machine.
    const rotated = await rotate(endpoint.id, { overlap: '4s' });
    const ends = Date.parse(rotated.previous_expires_at ?? '');
    assert.notEqual(rotated.secret, endpoint.secret);

    const stream: ReceivedRequest[] = [];
    const signatures = ({ headers }: ReceivedRequest) => headers['webhook-signature']?.split(' ').length;
    await until(
      async () => {
        const request = await deliver(endpoint.id);
        stream.push(request);
        return signatures(request);
      },
      (count) => count === 1,
    );
    for (const request of stream) {
      assert.ok(verifies(rotated.secret, request), 'the new secret verifies everything');
      // Signed within the second that the timestamp names: a delivery of the last second of the overlap may be on
      // either side.
      const signedAt = Number(request.headers['webhook-timestamp']) * 1_000;
      if (signedAt + 1_000 <= ends)
        assert.ok(verifies(endpoint.secret, request), 'within the overlap the old one does, too');
    }
    assert.deepEqual(new Set(stream.map(signatures)), new Set([2, 1]), 'the stream has seen both');
    for (const request of [stream.at(-1), await deliver(endpoint.id)]) {
      assert.ok(request && verifies(rotated.secret, request));
      assert.equal(signatures(request), 1);
      assert.ok(!verifies(endpoint.secret, request), 'after it the old one does not');
    }

    const stored = await until(
      () => system.database.endpoints.getFresh(client.accountId, endpoint.id),
      (now) => now?.sealed.signing_keys.length === 1,
    );
    assert.ok(stored);
    assert.equal(system.database.endpoints.secretsOf(stored).signing_keys[0]?.secret, rotated.secret);
    const removed = await system.temporal.client.workflow
      .getHandle(rotationWorkflowId(client.accountId, endpoint.id))
      .describe();
    assert.ok(removed);
  });

  it('are revoked at once', async () => {
    const endpoint = await client.register(receiver.url);
    const rotated = await rotate(endpoint.id, {});
    assert.ok(verifies(endpoint.secret, await deliver(endpoint.id)));
    const revoked = await client.request('DELETE', `/v18.0/endpoints/${endpoint.id}/secret/previous`);
    assert.equal(revoked.status, 204);
    const request = await deliver(endpoint.id);
    assert.ok(!verifies(endpoint.secret, request));
    assert.ok(verifies(rotated.secret, request));
    await until(
      () =>
        system.temporal.client.workflow
          .getHandle(rotationWorkflowId(client.accountId, endpoint.id))
          .describe(),
      ({ status }) => status.name === 'COMPLETED',
    );
  });

  it('overlap for 24 hours by default, from 0 to 7 days, at most five at a time', async () => {
    const endpoint = await client.register(receiver.url);
    const began = Date.now();
    const { previous_expires_at } = await rotate(endpoint.id, {});
    const overlap = Date.parse(previous_expires_at ?? '') - began;
    assert.ok(overlap >= 86_400_000 - 1_000 && overlap < 86_460_000);
    for (const refused of ['8d', '-1s', 'soon']) {
      const path = `/v18.0/endpoints/${endpoint.id}/secret/rotate`;
      const answer = await client.request('POST', path, { body: { overlap: refused } });
      assert.equal(answer.status, 400);
      assert.equal(answer.json.errors[0].pointer, '/overlap');
    }
    for (let more = 0; more < 3; more += 1) await rotate(endpoint.id, { overlap: '7d' });
    // A later rotation leaves a secret that was to end earlier its end.
    const stored = await system.database.endpoints.getFresh(client.accountId, endpoint.id);
    const oldest = stored && system.database.endpoints.secretsOf(stored).signing_keys.at(-1);
    assert.deepEqual([oldest?.secret, oldest?.expires_at], [endpoint.secret, previous_expires_at]);
    const path = `/v18.0/endpoints/${endpoint.id}/secret/rotate`;
    const sixth = await client.request('POST', path, { body: {} });
    assert.equal(sixth.status, 409);
    assert.equal(sixth.json.code, 'endpoint_state_conflict');
    const last = await rotate(endpoint.id, { overlap: '0s' });
    assert.equal(last.previous_expires_at, undefined);
  });

  it('may be a key pair, whose public half anybody may know', async () => {
    const created = await client.request('POST', '/v18.0/endpoints', {
      body: { target_url: receiver.url, event_kinds: ['purchase'], signature_scheme: 'v1a' },
    });
    assert.equal(created.status, 201, created.text);
    assert.equal(created.json.secret, undefined);
    assert.match(created.json.public_key, /^whpk_/);
    assert.ok(!created.text.includes('whsk_'));
    const shown = await client.request('GET', `/v18.0/endpoints/${created.json.id}`);
    assert.equal(shown.json.public_key, created.json.public_key);

    const { body, headers } = await deliver(created.json.id);
    const signature = headers['webhook-signature'] ?? '';
    assert.match(signature, /^v1a,/);
    const x = Buffer.from(created.json.public_key.slice('whpk_'.length), 'base64').toString('base64url');
    const key = createPublicKey({ format: 'jwk', key: { kty: 'OKP', crv: 'Ed25519', x } });
    const signed = (text: Buffer) =>
      verify(
        null,
        Buffer.concat([Buffer.from(`${headers['webhook-id']}.${headers['webhook-timestamp']}.`), text]),
        key,
        Buffer.from(signature.slice(4), 'base64'),
      );
    assert.ok(signed(body));
    assert.ok(!signed(Buffer.concat([body, Buffer.from(' ')])));
  });

  it('may be one that the subscriber has already, sent under the header names that it knows, too', async () => {
    const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
    const endpoint = await client.register(receiver.url, { secret, legacy_header_prefix: 'svix-' });
    assert.equal(endpoint.secret, secret);
    const request = await deliver(endpoint.id);
    assert.ok(verifies(secret, request));
    for (const name of ['id', 'timestamp', 'signature'])
      assert.equal(request.headers[`svix-${name}`], request.headers[`webhook-${name}`] ?? 'none');

    const path = `/v18.0/endpoints/${endpoint.id}`;
    const shown = await client.request('PATCH', path, { body: { description: 'Moved' } });
    assert.equal(shown.json.legacy_header_prefix, 'svix-');
    const bare = await client.request('PATCH', path, { body: { legacy_header_prefix: null } });
    assert.equal(bare.json.legacy_header_prefix, undefined);
    assert.equal((await deliver(endpoint.id)).headers['svix-signature'], undefined);
    const rotated = await rotate(endpoint.id, { overlap: '0s' });
    assert.notEqual(rotated.secret, secret);
  });

  it('and prefixes that cannot be taken are refused, by the field that is wrong', async () => {
    const short = `whsec_${Buffer.alloc(23).toString('base64')}`;
    for (const [fields, pointer] of [
      [{ secret: short }, '/secret'],
      [{ secret: 'not-of-this-form' }, '/secret'],
      [{ secret: `whsec_${Buffer.alloc(24).toString('base64')}`, signature_scheme: 'v1a' }, '/secret'],
      [{ legacy_header_prefix: 'webhook-' }, '/legacy_header_prefix'],
      [{ legacy_header_prefix: 'Svix ' }, '/legacy_header_prefix'],
      [{ legacy_header_prefix: 'a'.repeat(65) }, '/legacy_header_prefix'],
      [{ legacy_header_prefix: 'svix-', headers: { 'Svix-Id': '1' } }, '/headers/Svix-Id'],
    ] as const) {
      const body = { target_url: receiver.url, event_kinds: ['purchase'], ...fields };
      const refused = await client.request('POST', '/v18.0/endpoints', { body });
      assert.equal(refused.status, 400, JSON.stringify(fields));
      assert.deepEqual(
        refused.json.errors.map((error: { pointer: string }) => error.pointer),
        [pointer],
        refused.text,
      );
      assert.ok(!refused.text.includes(short));
    }
  });

  it('and headers appear in no history, log, list, error or database field [world]', async () => {
    const header = 'Bearer header-value-of-the-subscriber';
    const endpoint = await client.register(receiver.url, { headers: { authorization: header } });
    // The subscriber answers with what it was sent, and fails: the answer goes into the record.
    receiver.handle((request, response) => {
      response.writeHead(500, { 'x-request-id': header, 'content-type': 'text/plain' });
      response.end(`${JSON.stringify(request.headers)} ${endpoint.secret}`);
    });
    const event = await client.purchase(PURCHASE);
    const id = event.deliveries.find(({ endpoint_id }) => endpoint_id === endpoint.id)?.id ?? '';
    const delivery = await client.deliveryUntil(id, ({ attempts }) => attempts.length > 0);
    receiver.handle(reply(200));
    assert.equal(delivery.attempts[0]?.status_code, 500);

    const rotated = await rotate(endpoint.id, {});
    const path = `/v18.0/endpoints/${endpoint.id}`;
    const texts = await Promise.all([
      client.request('GET', '/v18.0/endpoints').then(({ text }) => text),
      client.request('GET', path).then(({ text }) => text),
      client.request('GET', `/v18.0/deliveries/${id}`).then(({ text }) => text),
      client
        .request('PUT', path, { body: { headers: { authorization: header, host: header } } })
        .then(({ text }) => text),
    ]);
    for (const workflowId of [delivery.workflow_id, rotationWorkflowId(client.accountId, endpoint.id)]) {
      const history = await fetchHistory(system, workflowId);
      texts.push(Buffer.from(JSON.stringify(history)).toString(), payloadsOf(history));
    }
    assert.ok(log.some((line) => line.includes(path)));
    texts.push(log.join(''), JSON.stringify(await readAll(system.environment['MONGODB_URI'] ?? '')));
    for (const secret of [endpoint.secret, rotated.secret, header, client.key]) {
      for (const text of texts) assert.ok(!text.includes(secret));
    }
  });
});

/** Everything that is in a database. */
async function readAll(uri: string): Promise<unknown[]> {
  const connection = await mongoose.createConnection(uri).asPromise();
  try {
    const collections = (await connection.db?.collections()) ?? [];
    return await Promise.all(collections.map((collection) => collection.find().toArray()));
  } finally {
    await connection.close();
  }
}

/** All payloads of a history, as text: in JSON they would be numbers or base64. */
function payloadsOf(value: unknown): string {
  if (value instanceof Uint8Array) return `${Buffer.from(value).toString('utf8')}\n`;
  if (typeof value !== 'object' || value === null) return '';
  return Object.values(value).map(payloadsOf).join('');
}
