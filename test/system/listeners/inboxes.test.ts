import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { Webhook } from 'standardwebhooks';
import { deleteExpiredListeners } from '../../../src/bin/service/listeners/listener-sweep.js';
import { INBOX_MS, inboxUrl, MAX_INBOXES, MAX_RECEIVED } from '../../../src/domain/listener/inbox.js';
import { type ApiClient, PURCHASE } from '../../support/api-client.js';
import { type SharedSystem, sharedSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

interface Received {
  event_id: string;
  headers: Record<string, string>;
  body?: string;
  body_bytes: number;
  verified: boolean;
}

describe('a test inbox', () => {
  let system: SharedSystem;
  let client: ApiClient;
  before(async () => {
    system = await sharedSystem({ HOOKLINE_ENDPOINT_VERIFICATION: 'required' });
  });
  beforeEach(async () => {
    client = await system.account();
  });

  const make = () => client.request('POST', '/v18.0/inboxes', { body: { event_kinds: ['purchase'] } });
  const made = async () => {
    const { status, json, text } = await make();
    equal(status, 201, text);
    return json as { id: string; status: string; inbox: boolean; target_url: string; secret: string };
  };
  const requestsOf = async (id: string, who = client): Promise<Received[]> =>
    (await who.request('GET', `/v18.0/inboxes/${id}/requests`)).json.data;
  const receive = async () => {
    const event = await client.purchase();
    const delivery = event.deliveries.at(-1)?.id ?? '';
    return client.deliveryUntil(delivery, ({ status }) => status === 'delivered');
  };

  it('shows what was delivered to it, byte for byte, with its headers and whether the signature is right', async () => {
    const { id, status, inbox, target_url } = await made();
    deepEqual([status, inbox, target_url], ['active', true, inboxUrl(id)]);
    const delivery = await receive();
    deepEqual(
      delivery.attempts.map(({ status_code, url }) => [status_code, url]),
      [[200, inboxUrl(id)]],
    );
    const [request] = await requestsOf(id);
    deepEqual([request?.body, request?.verified, request?.event_id], [PURCHASE, true, delivery.event_id]);
    equal(request?.headers['webhook-id'], delivery.event_id);
    match(request?.headers['webhook-signature'] ?? '', /^v1,/);
  });

  it('shows each format as it was sent, also after the format was changed', async () => {
    const { id, secret } = await made();
    const formats = ['thin', 'cloudevents_structured', 'cloudevents_binary'];
    const requestBytes: (number | undefined)[] = [];
    for (const payload_format of [...formats, 'event']) {
      const changed = await client.request('PATCH', `/v18.0/endpoints/${id}`, { body: { payload_format } });
      equal(changed.status, 200, changed.text);
      requestBytes.unshift((await receive()).attempts[0]?.request_bytes);
    }
    const shown = await requestsOf(id);
    deepEqual(
      shown.map(({ body = '' }) => Buffer.byteLength(body)),
      requestBytes,
    );
    for (const { headers, body = '' } of shown) new Webhook(secret).verify(body, headers);
    const [event, binary, structured, thin] = shown.map(({ body = '' }) => body);
    deepEqual([event, binary], [PURCHASE, PURCHASE]);
    deepEqual(JSON.parse(structured ?? '').data, JSON.parse(PURCHASE));
    deepEqual(Object.keys(JSON.parse(thin ?? '')), ['id', 'kind', 'url']);
    deepEqual(
      shown.map(({ headers }) => [headers['content-type'], headers['ce-type']]),
      [
        ['application/json', undefined],
        ['application/json', 'purchase'],
        ['application/cloudevents+json', undefined],
        ['application/json', undefined],
      ],
    );
  });

  it('is of its account alone, has no stream, and nothing is sent elsewhere from it', async () => {
    const { id } = await made();
    const other = await system.account();
    for (const [method, path] of [
      ['GET', `/v18.0/inboxes/${id}/requests`],
      ['DELETE', `/v18.0/endpoints/${id}`],
    ] as const)
      equal((await other.request(method, path)).status, 404, path);
    equal((await client.request('POST', `/v18.0/listeners/${id}/tickets`)).status, 404);
    const moved = await client.request('PATCH', `/v18.0/endpoints/${id}`, {
      body: { target_url: 'https://example.com/' },
    });
    equal(moved.status, 400, moved.text);
    const listener = await client.request('POST', '/v18.0/listeners', {
      body: { event_kinds: ['purchase'] },
    });
    equal((await client.request('GET', `/v18.0/inboxes/${listener.json.id}/requests`)).status, 404);
  });

  it('does not show values of headers that the endpoint has: they are secrets', async () => {
    const { id } = await made();
    const headers = { 'x-token': 'very-secret' };
    const changed = await client.request('PATCH', `/v18.0/endpoints/${id}`, { body: { headers } });
    equal(changed.status, 200, changed.text);
    await receive();
    const [request] = await requestsOf(id);
    ok(request && 'x-token' in request.headers);
    ok(!JSON.stringify(request).includes('very-secret'));
  });

  it('is one of a few of its account, and keeps the latest requests', async () => {
    const { id } = await made();
    for (let count = 1; count < MAX_INBOXES; count += 1) await made();
    const refused = await make();
    deepEqual([refused.status, refused.json.code], [409, 'endpoint_limit_reached']);
    const { inboxes } = system.database;
    const request = { endpoint_id: id, headers: {}, body_bytes: 2 };
    for (let count = 0; count < MAX_RECEIVED + 3; count += 1)
      await inboxes.keep(client.accountId, { ...request, event_id: `evt_${count}` });
    const kept = await inboxes.list(client.accountId, id, 2 * MAX_RECEIVED);
    deepEqual(
      [kept.length, kept[0]?.event_id, kept.at(-1)?.event_id],
      [MAX_RECEIVED, `evt_${MAX_RECEIVED + 2}`, 'evt_3'],
    );
  });

  it('is deleted after an hour, with what it has received', async () => {
    const { id } = await made();
    await receive();
    const { database } = system;
    const starter = { release: async () => {} };
    const status = async () => (await client.request('GET', `/v18.0/endpoints/${id}`)).status;
    await deleteExpiredListeners(database, starter, Date.now() + INBOX_MS - 60_000);
    equal(await status(), 200);
    await deleteExpiredListeners(database, starter, Date.now() + INBOX_MS + 60_000);
    // The service remembers endpoints for a moment.
    await until(status, (code) => code === 404);
    deepEqual(await database.inboxes.list(client.accountId, id, 10), []);
  });
});
