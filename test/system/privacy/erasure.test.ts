import assert from 'node:assert/strict';
import { pino } from 'pino';
import { OPERATOR_SCOPES } from '../../../src/domain/access/api-key.js';
import { OPERATOR } from '../../../src/domain/change/change.js';
import type { Erasure } from '../../../src/domain/privacy/erasure.js';
import { type ApiClient, apiClient, PURCHASE } from '../../support/api-client.js';
import { executionOf } from '../../support/history.js';
import { recorded, runRecords } from '../../support/parts/records.js';
import { replay, replayOver } from '../../support/parts/replays.js';
import { type Handler, type Receiver, startReceiver } from '../../support/receiver.js';
import { newAccount, SHORT_WAITS, startApart, startSystem, type TestSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

const ADA = 'ada.erased@example.com';
const BOB = 'bob.kept@example.com';

function purchaseOf(person: string): string {
  return JSON.stringify({ ...JSON.parse(PURCHASE), customer_email: person });
}

/** Answers with what it was sent: `/fails` with 500. */
const echo: Handler = (request, response, body) =>
  void response.writeHead(request.url === '/fails' ? 500 : 200).end(body);

describe('erasing a subject', () => {
  let system: TestSystem;
  let receiver: Receiver;
  let client: ApiClient;
  let other: ApiClient;
  const log: string[] = [];
  /** Delivered, and retrying: of Ada, who is erased, of Bob, and of Ada in another account. */
  let ada: { id: string; delivered: string; retrying: string };
  let bob: typeof ada;
  let elsewhere: typeof ada;
  let erasure: Erasure;

  before(async () => {
    const logger = pino({ level: 'trace' }, { write: (line) => void log.push(line) });
    system = await startSystem(SHORT_WAITS, 'all', logger);
    receiver = await startReceiver({ handler: echo });
    client = await system.account();
    other = await system.account();
    for (const one of [client, other]) {
      await one.register(receiver.url);
      await one.register(`${receiver.url}/fails`);
    }
    ada = await post(client, ADA);
    bob = await post(client, BOB);
    elsewhere = await post(other, ADA);
  });
  after(async () => {
    await system.stop();
    await receiver.close();
  });

  async function post(by: ApiClient, person: string): Promise<typeof ada> {
    const { id, deliveries } = await by.purchase(purchaseOf(person));
    const found = await Promise.all(
      deliveries.map((one) => by.deliveryUntil(one.id, ({ attempts }) => attempts.length === 1)),
    );
    const of = (status: string) => found.find((one) => one.status === status)?.id ?? assert.fail();
    return { id, delivered: of('delivered'), retrying: of('retrying') };
  }

  const get = async (path: string, by = client) => (await by.request('GET', `/v18.0${path}`)).json;

  const KEYS = '/deliveries?include=business_keys&limit=100';

  it('deletes its key at once, and cancels what is open', async () => {
    // What is covered is counted by what visibility has, a moment later.
    const listed = await until(
      async () => (await get(KEYS)).data as { closed_at?: string; business_keys?: unknown }[],
      (rows) => rows.length >= 4 && rows.filter(({ closed_at }) => closed_at !== undefined).length >= 2,
    );
    assert.ok(listed.every(({ business_keys }) => business_keys !== undefined));
    const body = { subject: ADA.toUpperCase(), reason: 'request 4711' };
    const { status, json, text } = await client.request('POST', '/v18.0/subjects/erase', { body });
    // On a busy machine the request has its response before the key is deleted.
    assert.ok([200, 202].includes(status), text);
    erasure = await until(
      () => get(`/erasures/${json.id}`) as Promise<Erasure>,
      ({ erased_at }) => erased_at !== undefined,
    );
    assert.deepEqual(erasure.covered, { events: 1, deliveries: 2, open_deliveries: 1 });
    assert.equal(erasure.requested_by, client.keyId);
    const delivery = await client.deliveryUntil(ada.retrying, ({ status }) => status === 'cancelled');
    assert.equal(delivery.interventions?.at(-1)?.by, erasure.id);
    const verdict = await get(`/explain?event_id=${ada.id}&endpoint_id=${delivery.endpoint_id}`);
    assert.equal(verdict.code, 'subject_erased');
    const complete = await until(
      () => get(`/erasures/${erasure.id}`) as Promise<Erasure>,
      ({ status }) => status === 'complete',
    );
    assert.equal(complete.cancelled_deliveries, 1);
  });

  it('leaves its payload unreadable in every view, and what else is known of its deliveries', async () => {
    const event = await get(`/events/${ada.id}`);
    assert.equal(event.payload, null);
    assert.equal(event.payload_erased, true);
    const delivery = await get(`/deliveries/${ada.delivered}`);
    assert.equal(delivery.payload_erased, true);
    assert.equal(delivery.payload_bytes, Buffer.byteLength(purchaseOf(ADA)));
    assert.equal(delivery.payload_sha256, undefined);
    assert.equal(delivery.attempts[0].status_code, 200);
    assert.equal(delivery.attempts[0].response_snippet, undefined);
    assert.equal(delivery.attempts[0].sealed, undefined);
    const texts = await Promise.all(
      [
        `/events?key=order_id:order-1`,
        `/deliveries?event_id=${ada.id}`,
        `/deliveries/${ada.delivered}/timeline`,
        `/deliveries/${ada.retrying}/timeline`,
        '/changes',
        '/erasures',
        `/erasures/${erasure.id}`,
      ].map(async (path) => JSON.stringify(await get(path))),
    );
    for (const text of texts) assert.ok(!text.toLowerCase().includes(ADA), text);
    // What lists remember of events is sealed, too.
    const rows: { event_id: string; business_keys?: unknown }[] = (await get(KEYS)).data;
    for (const row of rows)
      assert.equal(row.business_keys === undefined, row.event_id === ada.id, row.event_id);
    assert.ok(texts[0]?.includes(ada.id) && texts[1]?.includes(ada.delivered), 'it is still listed');
  });

  it('refuses to send it again', async () => {
    const answer = await client.request('POST', `/v18.0/deliveries/${ada.delivered}/resend`);
    assert.equal(answer.status, 409);
    assert.match(answer.json.detail, /The subject of the event was erased/);
  });

  it('is why a replay cannot send it again, either', async () => {
    const { id } = await replay(client, { mode: 'failed' });
    const { found, done, failures } = await replayOver(client, id);
    assert.deepEqual([found, done], [1, 0]);
    assert.deepEqual(
      failures?.map((one) => one.id),
      [ada.retrying],
    );
    assert.match(failures?.[0]?.detail ?? '', /The subject of the event was erased/);
    const changes: { action: string; outcome: string }[] = (
      await get(`/changes?resource=delivery:${ada.retrying}`)
    ).data;
    assert.ok(changes.every(({ action, outcome }) => action !== 'resent' || outcome !== 'done'));
  });

  it('leaves other subjects as they are', async () => {
    assert.deepEqual((await get(`/events/${bob.id}`)).payload, JSON.parse(purchaseOf(BOB)));
    const delivery = await get(`/deliveries/${bob.delivered}`);
    assert.equal(delivery.attempts[0].response_snippet, purchaseOf(BOB));
    assert.equal((await get(`/deliveries/${bob.retrying}`)).status, 'retrying');
  });

  it('leaves the same person in another account, which cannot see the erasure, either', async () => {
    assert.deepEqual((await get(`/events/${elsewhere.id}`, other)).payload, JSON.parse(purchaseOf(ADA)));
    assert.equal((await get(`/deliveries/${elsewhere.retrying}`, other)).status, 'retrying');
    assert.equal((await other.request('GET', `/v18.0/erasures/${erasure.id}`)).status, 404);
    assert.deepEqual((await get('/erasures', other)).data, []);
    const stranger = await system.account();
    for (const subject of [ADA, BOB, 'nobody@example.com']) {
      const answer = await stranger.request('POST', '/v18.0/subjects/erase', { body: { subject } });
      assert.equal(answer.status, 404);
      assert.ok(!answer.text.includes(subject));
    }
    assert.notEqual((await get(`/events/${bob.id}`)).payload, null);
  });

  it('is shown to whoever may erase by its id, as it ends after the response', async () => {
    await post(client, 'eve@example.com');
    const { key, api_key } = await system.database.apiKeys.create(
      client.accountId,
      'erases',
      ['subjects:write'],
      OPERATOR,
    );
    const eraser = apiClient(system.url, { accountId: client.accountId, key, keyId: api_key.id });
    const body = { subject: 'eve@example.com' };
    const { headers, json } = await eraser.request('POST', '/v18.0/subjects/erase', { body });
    const ended = await until(
      () => eraser.request('GET', new URL(headers.get('location') ?? '', system.url).pathname),
      ({ json: { erased_at, code } }) => erased_at !== undefined || code !== undefined,
    );
    assert.deepEqual([ended.status, ended.json.id], [200, json.id], ended.text);
    assert.equal((await eraser.request('GET', '/v18.0/erasures')).json.code, 'missing_scope');
  });

  it('is a change with its actor and reason', async () => {
    const { data } = await get(`/changes?resource=erasure:${erasure.id}`);
    const created = data.at(-1);
    assert.equal(created.action, 'created');
    assert.equal(created.actor.id, client.keyId);
    assert.equal(created.reason, 'request 4711');
    assert.equal(data.at(-2).actor.id, 'erasure');
  });

  it('refuses a reason that names the subject, and names it in no answer or log line', async () => {
    const body = { subject: BOB, reason: `as ${BOB} asked` };
    const refused = await client.request('POST', '/v18.0/subjects/erase', { body });
    assert.equal(refused.status, 400);
    assert.ok(!refused.text.includes(BOB));
    const path = `/v18.0/subjects/${encodeURIComponent('carol@example.com')}`;
    const unknown = await client.request('DELETE', path);
    assert.equal(unknown.status, 404);
    assert.ok(!unknown.text.includes('carol'));
    assert.ok(log.some((line) => line.includes('/v18.0/subjects/…')));
    for (const text of [ADA, BOB, 'carol']) assert.ok(!log.join('').toLowerCase().includes(text), text);
  });

  it('gives later events of the same person a new key', async () => {
    const { id } = await post(client, ADA);
    assert.deepEqual((await get(`/events/${id}`)).payload, JSON.parse(purchaseOf(ADA)));
    assert.equal((await get(`/events/${ada.id}`)).payload, null);
  });

  it('takes the subject from a header if it is given', async () => {
    const headers = { 'hookline-subject': 'customer%2017' };
    const { id } = await client.purchase(purchaseOf(BOB), headers);
    const answer = await client.request('DELETE', `/v18.0/subjects/${encodeURIComponent('customer 17')}`);
    // Its key is gone at once; on a busy machine what was open is not cancelled as soon.
    assert.ok([200, 202].includes(answer.status), answer.text);
    assert.equal((await get(`/events/${id}`)).payload, null);
    assert.notEqual((await get(`/events/${bob.id}`)).payload, null);
    const bad = { raw: purchaseOf(BOB), headers: { 'hookline-subject': '%' } };
    assert.equal((await client.request('POST', '/v18.0/events/purchase', bad)).status, 400);
  });

  it('stays unreadable in its row, whose commitment stands', async () => {
    await runRecords(system);
    const recorded = await system.database.records.event(client.accountId, ada.id);
    assert.equal(recorded?.payload, undefined);
    const kept = await system.database.records.event(client.accountId, bob.id);
    assert.equal(kept?.payload, purchaseOf(BOB));
    const record = JSON.parse(
      (await system.database.records.delivery(client.accountId, ada.delivered))?.record ?? '{}',
    );
    assert.match(record.payload_commitment, /^[0-9a-f]{64}$/);
  });

  it('makes a repeat of a request about the subject a conflict, which says why, and nothing is sent [world]', async () => {
    const body = purchaseOf('eve@example.com');
    const headers = { 'idempotency-key': 'of-eve' };
    const first = await client.purchase(body, headers);
    assert.equal((await client.purchase(body, headers)).id, first.id);
    await client.request('POST', '/v18.0/subjects/erase', { body: { subject: 'eve@example.com' } });
    const repeat = await client.request('POST', '/v18.0/events/purchase', { raw: body, headers });
    assert.deepEqual([repeat.status, repeat.json.code], [409, 'idempotency_conflict']);
    assert.match(repeat.json.detail, /erased since/);
  });

  it('waits for open deliveries if it is asked to, and is complete when none is left [world]', async () => {
    const late = await post(client, 'dan@example.com');
    const body = { subject: 'dan@example.com', open: 'finish' };
    const answer = await client.request('POST', '/v18.0/subjects/erase', { body });
    assert.equal(answer.status, 202);
    assert.equal(answer.json.status, 'waiting');
    assert.notEqual((await get(`/events/${late.id}`)).payload, null);
    receiver.handle((_request, response, sent) => void response.writeHead(200).end(sent));
    await until(
      () => client.request('POST', `/v18.0/deliveries/${late.retrying}/retry`),
      (response) => response.status === 200,
    );
    await until(
      () => get(`/erasures/${answer.json.id}`) as Promise<Erasure>,
      ({ erased_at }) => erased_at !== undefined,
    );
    assert.equal((await get(`/events/${late.id}`)).payload, null);
    assert.equal((await client.delivery(late.retrying)).status, 'delivered');
  });

  it('is done once, however many ask at the same time: one certificate, by what it does with open deliveries [world]', async () => {
    receiver.handle(echo);
    const own = await system.account();
    await own.register(receiver.url);
    await own.register(`${receiver.url}/fails`);
    const erasures = async () =>
      (await get('/erasures?limit=100', own)).data.map(({ id }: { id: string }) => id) as string[];
    const [cara, dora] = ['cara.once@example.com', 'dora.once@example.com'];
    for (const person of [cara, dora]) await post(own, person);
    const ask = (subject: string, open: string) =>
      own.request('POST', '/v18.0/subjects/erase', { body: { subject, open } });
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask(cara, 'cancel')));
    // One that comes when the key is gone finds nothing to erase.
    const found = answers.filter(({ status }) => status !== 404);
    assert.ok(found.length > 0 && found.every(({ status }) => status === 200 || status === 202));
    const ids = new Set<string>(found.map(({ json }) => json.id));
    assert.equal(ids.size, 1);
    assert.deepEqual(await until(erasures, ({ length }) => length > 0), [...ids]);

    const [first, second] = [await ask(dora, 'finish'), await ask(dora, 'finish')];
    assert.equal(first.json.status, 'waiting', first.text);
    assert.equal(second.json.id, first.json.id);
    const impatient = await ask(dora, 'cancel');
    assert.notEqual(impatient.json.id, first.json.id);
    await until(
      () => get(`/erasures/${impatient.json.id}`, own) as Promise<Erasure>,
      ({ erased_at }) => erased_at !== undefined,
    );
  });
});

describe('an installation that does not encrypt payloads', () => {
  let system: TestSystem;
  let receiver: Receiver;

  before(async () => {
    // It cannot read what other systems of this run have encrypted.
    system = await startApart('plain', { ...SHORT_WAITS, HOOKLINE_PAYLOAD_KEYS: '' });
    receiver = await startReceiver({ handler: echo });
  });
  after(async () => {
    await system.stop();
    await receiver.close();
  });

  it('delivers, reads and records as before, and says what to set for an erasure [world]', async () => {
    const client = await newAccount(system.database, system.url);
    await client.register(receiver.url);
    const { id, deliveries } = await client.purchase(purchaseOf(BOB));
    const delivery = await client.deliveryUntil(
      deliveries[0]?.id ?? '',
      ({ status }) => status === 'delivered',
    );
    assert.equal(delivery.attempts[0]?.response_snippet, purchaseOf(BOB));
    assert.match(delivery.payload_sha256 ?? '', /^[0-9a-f]{64}$/);
    const history = await (await executionOf(system, delivery.workflow_id)).fetchHistory();
    const [input] = history.events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads ?? [];
    assert.match(Buffer.from(input?.data ?? []).toString(), /"attempt_timeout_ms"/, 'it is in clear');
    assert.doesNotMatch(JSON.stringify(history), /bob\.kept/);
    await recorded(system, client, [delivery.id]);
    assert.equal((await system.database.records.event(client.accountId, id))?.payload, purchaseOf(BOB));
    const answer = await client.request('POST', '/v18.0/subjects/erase', { body: { subject: BOB } });
    assert.equal(answer.status, 409);
    assert.equal(answer.json.code, 'payloads_not_encrypted');
    assert.match(answer.json.detail, /HOOKLINE_PAYLOAD_KEYS/);
    const operator = await newAccount(system.database, system.url, OPERATOR_SCOPES);
    const ofAccount = await operator.request('DELETE', `/v18.0/accounts/${client.accountId}?payloads=erase`);
    assert.deepEqual([ofAccount.status, ofAccount.json.code], [409, 'payloads_not_encrypted']);
    assert.equal((await system.database.accounts.get(client.accountId))?.status, 'active');
  });
});
