import assert from 'node:assert/strict';
import { MASKED_VALUE } from '../../../src/domain/endpoint/endpoint-headers.js';
import { findEventKind } from '../../../src/domain/event/event-kinds.js';
import type { ApiClient } from '../../support/api-client.js';
import { type Receiver, reply, startReceiver } from '../../support/receiver.js';
import { type SharedSystem, sharedSystem } from '../../support/system.js';

describe('an endpoint', () => {
  let system: SharedSystem;
  let client: ApiClient;
  let receiver: Receiver;

  before(async () => {
    system = await sharedSystem({ HOOKLINE_MAX_ENDPOINTS: '3' });
    receiver = await startReceiver();
  });
  beforeEach(async () => {
    client = await system.account();
  });
  after(() => receiver.close());

  const create = (more: object = {}) =>
    client.request('POST', '/v18.0/endpoints', {
      body: { target_url: receiver.url, event_kinds: ['purchase'], ...more },
    });
  const put = (id: string, more: object) =>
    client.request('PUT', `/v18.0/endpoints/${id}`, {
      body: { target_url: receiver.url, event_kinds: ['purchase'], ...more },
    });

  it('is one of as many as its account may have, also if many are made at once', async () => {
    const statuses = (await Promise.all(Array.from({ length: 20 }, () => create()))).map(
      ({ status }) => status,
    );
    assert.deepEqual(statuses.sort(), [...Array(3).fill(201), ...Array(17).fill(409)]);
    assert.equal((await client.request('GET', '/v18.0/endpoints')).json.data.length, 3);
    const { json } = await client.request('GET', '/v18.0/endpoints?limit=1');
    assert.equal((await client.request('DELETE', `/v18.0/endpoints/${json.data[0].id}`)).status, 204);
    assert.equal((await create()).status, 201);
  });

  it('has everything its owner set, secrets aside', async () => {
    const input = {
      description: 'orders',
      metadata: { team: 'shop', 'a.$b': 'c' },
      headers: { Authorization: 'Bearer inner', 'x-tenant': 'seven' },
      filter: { all: [{ path: '/total', at_least: 10 }, { not: { path: '/items/0', exists: false } }] },
      rate_limit: 5,
      retry_schedule: ['1s', '5m'],
    };
    const { status, json } = await create(input);
    assert.equal(status, 201);
    const shown = (await client.request('GET', `/v18.0/endpoints/${json.id}`)).json;
    const expected = { ...input, headers: { Authorization: MASKED_VALUE, 'x-tenant': MASKED_VALUE } };
    for (const endpoint of [json, shown]) {
      for (const [name, value] of Object.entries(expected)) assert.deepEqual(endpoint[name], value, name);
    }
    assert.equal(shown.secret, undefined);
    const replaced = (await put(json.id, {})).json;
    for (const name of ['filter', 'rate_limit', 'retry_schedule'])
      assert.equal(replaced[name], undefined, name);
    assert.deepEqual([replaced.headers, replaced.metadata, replaced.description], [{}, {}, '']);
  });

  it('has its own schedule for a test, too', async () => {
    receiver.handle(reply(500));
    for (const [retry_schedule, minutes] of [
      [['7m'], 7],
      [['9h'], 9 * 60],
    ] as const) {
      const { json } = await create({ retry_schedule });
      const test = await client.request('POST', `/v18.0/endpoints/${json.id}/test`);
      const { id } = (await client.request('GET', `/v18.0/deliveries?event_id=${test.json.id}`)).json.data[0];
      const { next_attempt_at, attempts } = await client.deliveryUntil(
        id,
        ({ next_attempt_at: at }) => at !== undefined,
      );
      const waits = Date.parse(next_attempt_at ?? '') - Date.parse(attempts[0]?.at ?? '');
      // A wait of a schedule is a little shorter or longer, so that not all come at once.
      assert.ok(waits > minutes * 60_000 * 0.8 && waits < minutes * 60_000 * 1.25, `${waits} ms`);
    }
    receiver.handle(reply(200));
  });

  it("sends its owner's headers, and keeps those that come back masked", async () => {
    const { json } = await create({ headers: { 'x-tenant': 'seven', 'x-team': 'red' } });
    const deliver = async () => {
      const { json: event, headers } = await client.request('POST', `/v18.0/endpoints/${json.id}/test`);
      assert.equal(event.kind, 'endpoint.test');
      assert.equal(headers.get('location'), `/v18.0/events/${event.id}`);
      const all = await receiver.waitFor((requests) =>
        requests.some(({ headers }) => headers['webhook-id'] === event.id),
      );
      return all.find(({ headers }) => headers['webhook-id'] === event.id)?.headers;
    };
    const first = await deliver();
    assert.deepEqual([first?.['x-tenant'], first?.['x-team']], ['seven', 'red']);
    assert.equal(
      (await put(json.id, { headers: { 'X-Tenant': MASKED_VALUE, 'x-team': 'blue' } })).status,
      200,
    );
    const second = await deliver();
    assert.deepEqual([second?.['x-tenant'], second?.['x-team']], ['seven', 'blue']);
  });

  it('gets the example of a kind, signed as an event of it, and nothing that its subscriber makes up [world]', async () => {
    const { json } = await create({
      event_kinds: ['endpoint.failing'],
      filter: { path: '/total', at_least: 1e9 },
    });
    const test = (body: unknown) => client.request('POST', `/v18.0/endpoints/${json.id}/test`, { body });
    const sent = await test({ event_kind: 'purchase' });
    assert.equal(sent.status, 202, sent.text);
    assert.deepEqual([sent.json.kind, sent.json.sequence], ['purchase', undefined]);
    const all = await receiver.waitFor((requests) =>
      requests.some(({ headers }) => headers['webhook-id'] === sent.json.id),
    );
    const got = all.find(({ headers }) => headers['webhook-id'] === sent.json.id);
    assert.equal(got?.headers['webhook-event-kind'], 'purchase');
    const kind = findEventKind('purchase');
    assert.deepEqual(
      JSON.parse(got?.body.toString() ?? ''),
      (kind?.schema['examples'] as unknown[] | undefined)?.[0],
    );

    const kinds: [name: string, schema: object][] = [
      ['order.bare', { type: 'object' }],
      ['order.wrong', { type: 'object', required: ['id'], examples: [{}] }],
    ];
    for (const [name, schema] of kinds)
      await client.request('POST', '/v18.0/event_kinds', { body: { name, schema } });
    const refusals = [
      [{ event_kind: 'order.bare' }, 409, 'event_kind_conflict'],
      [{ event_kind: 'order.wrong' }, 400, 'invalid_payload'],
      [{ event_kind: 'order.none' }, 404, 'unknown_event_kind'],
      [{ event_kind: 'endpoint.disabled' }, 404, 'unknown_event_kind'],
      [{ event_kind: 'purchase', payload: {} }, 400, 'invalid_request'],
    ] as const;
    for (const [body, status, code] of refusals) {
      const refused = await test(body);
      assert.deepEqual([refused.status, refused.json.code], [status, code], refused.text);
    }
    assert.equal(
      (await (await system.account()).request('POST', `/v18.0/endpoints/${json.id}/test`)).status,
      404,
    );
  });

  it('gets events of its kinds that meet its filter', async () => {
    const { json } = await create({ filter: { path: '/total', at_least: 10 } });
    const post = async (total: string) => {
      const body = `{"order_id":"o","customer_email":"a@example.com","total":${total},"items":[],"created_at":"2026-01-31T12:00:00Z"}`;
      return (await client.purchase(body)).deliveries.map(({ endpoint_id }) => endpoint_id);
    };
    assert.deepEqual(await post('9.99'), []);
    assert.deepEqual(await post('10.00'), [json.id]);
  });

  it('may be paused with a reason, and counts its changes of status', async () => {
    const { json } = await create();
    const paused = (await put(json.id, { status: 'paused', status_reason: 'We move house.' })).json;
    assert.deepEqual([paused.status, paused.status_reason], ['paused', 'We move house.']);
    assert.ok(paused.status_changed_at > json.status_changed_at);
    const renamed = (await put(json.id, { status: 'paused', description: 'x' })).json;
    assert.equal(renamed.status_changed_at, paused.status_changed_at);
    const active = (await put(json.id, {})).json;
    assert.deepEqual([active.status, active.status_reason], ['active', undefined]);
  });

  it('is one of as many as an account may have', async () => {
    for (let number = 0; number < 3; number += 1) assert.equal((await create()).status, 201);
    const { status, json } = await create();
    assert.equal(status, 409);
    assert.equal(json.code, 'endpoint_limit_reached');
    client = await system.account();
    assert.equal((await create()).status, 201);
  });

  it('is refused with every wrong place named', async () => {
    const refused: [object, string][] = [
      [{ target_url: 'https://10.0.0.1/' }, '/target_url'],
      [{ target_url: 'https://169.254.169.254/' }, '/target_url'],
      [{ target_url: 'https://example.com:22/' }, '/target_url'],
      [{ target_url: 'https://a:b@example.com/' }, '/target_url'],
      [{ event_kinds: ['nothing.known'] }, '/event_kinds/0'],
      [{ filter: { path: 'total', equals: 1 } }, '/filter/path'],
      [{ filter: { path: '/total' } }, '/filter'],
      [{ headers: { 'webhook-id': 'x' } }, '/headers/webhook-id'],
      [{ headers: { Host: 'x' } }, '/headers/Host'],
      [{ headers: { 'content-length': '1' } }, '/headers/content-length'],
      [{ headers: { 'transfer-encoding': 'chunked' } }, '/headers/transfer-encoding'],
      [{ headers: { 'a b': 'x' } }, '/headers/a b'],
      [{ headers: { 'x-a': 'x\r\nx-b: y' } }, '/headers/x-a'],
      [{ headers: { 'x-a': 'ü' } }, '/headers/x-a'],
      [{ headers: { 'x-a': 'a'.repeat(4_097) } }, '/headers/x-a'],
      [{ headers: { 'x-a': '1', 'X-A': '2' } }, '/headers'],
      [{ headers: { 'x-a': MASKED_VALUE } }, '/headers/x-a'],
      [{ headers: Object.fromEntries(Array.from({ length: 21 }, (_, i) => [`x-${i}`, 'v'])) }, '/headers'],
      [{ metadata: Object.fromEntries(Array.from({ length: 51 }, (_, i) => [`k${i}`, 'v'])) }, '/metadata'],
      [{ metadata: { team: 7 } }, '/metadata/team'],
      [{ rate_limit: 0 }, '/rate_limit'],
      [{ rate_limit: 1_001 }, '/rate_limit'],
      [{ retry_schedule: ['1ms'] }, '/retry_schedule/0'],
      [{ status: 'disabled' }, '/status'],
      [{ status_reason: 'because' }, '/status_reason'],
      [{ verification_method: 'email' }, '/verification_method'],
      [{ signature_scheme: 'none' }, '/signature_scheme'],
    ];
    for (const [input, pointer] of refused) {
      const { status, json, text } = await create(input);
      assert.equal(status, 400, text);
      assert.ok(
        json.errors.some((error: { pointer: string }) => error.pointer === pointer),
        `${pointer}: ${text}`,
      );
    }
  });
});
