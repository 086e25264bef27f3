import assert from 'node:assert/strict';
import mongoose from 'mongoose';
import { type ApiClient, PURCHASE } from '../../support/api-client.js';
import { type SharedSystem, sharedSystem } from '../../support/system.js';

/** Requests of real callers that a caller of the documentation does not make. */
describe('a caller of the API', () => {
  let system: SharedSystem;
  let client: ApiClient;

  before(async () => {
    system = await sharedSystem();
    client = await system.account();
  });

  it('gets the first answer again, as often as it repeats an event without endpoints', async () => {
    const producer = await system.account();
    const post = () =>
      producer.request('POST', '/v18.0/events/purchase', {
        raw: PURCHASE,
        headers: { 'idempotency-key': 'order-1' },
      });
    const first = await post();
    assert.equal(first.status, 202, first.text);
    for (let repeat = 0; repeat < 3; repeat++) {
      const { status, text, json } = await post();
      assert.equal(status, 202, text);
      assert.deepEqual(json, first.json);
    }
    // As a server has left it that stands in for MongoDB and drops empty lists.
    const connection = await mongoose.createConnection(system.environment['MONGODB_URI'] ?? '').asPromise();
    const { modifiedCount } = await connection
      .collection('events')
      .updateOne({ once: `${producer.accountId}:order-1` }, { $unset: { targets: 1 } });
    await connection.close();
    assert.equal(modifiedCount, 1);
    assert.deepEqual((await post()).json, first.json);
  });

  it('learns from Location where a resource is, however it wrote the path [world]', async () => {
    const endpoint = { target_url: 'https://shop.example.com/hooks', event_kinds: ['purchase'] };
    const { id } = (await client.request('POST', '/v18.0/endpoints', { body: endpoint })).json;
    const creations: [string, object | string, (json: { id: string; name?: string }) => string][] = [
      ['/v18.0/events/purchase', PURCHASE, (event) => `/v18.0/events/${event.id}`],
      ['/v18.0/events/purch%61se', PURCHASE, (event) => `/v18.0/events/${event.id}`],
      ['/v18.0/endpoints', endpoint, (made) => `/v18.0/endpoints/${made.id}`],
      [`/v18.0/endpoints/${id}/test`, '', (event) => `/v18.0/events/${event.id}`],
      [`/v18.0/endpoints/${id.replace('_', '%5F')}/test`, '', (event) => `/v18.0/events/${event.id}`],
      ['/v18.0/listeners', { event_kinds: ['purchase'] }, (made) => `/v18.0/endpoints/${made.id}`],
      ['/v18.0/profiles', { username: 'ada', name: 'Ada' }, (made) => `/v18.0/profiles/${made.id}`],
      ['/v18.0/api_keys', { name: 'k', scopes: ['events:write'] }, (made) => `/v18.0/api_keys/${made.id}`],
      [
        '/v18.0/event_kinds',
        { name: 'order.shipped', schema: {} },
        ({ name }) => `/v18.0/event_kinds/${name}`,
      ],
    ];
    let number = 0;
    for (const [path, body, locationOf] of creations)
      for (const written of [path, `${path}/`]) {
        // Names are unique.
        const own =
          typeof body !== 'object'
            ? body
            : {
                ...body,
                ...('username' in body && { username: `ada${number++}` }),
                ...('schema' in body && { name: `order.shipped${number++}` }),
              };
        const sent = typeof own === 'string' ? { raw: own } : { body: own };
        const answer = await client.request('POST', written, sent);
        assert.ok(answer.status === 201 || answer.status === 202, `${written}: ${answer.text}`);
        const location = answer.headers.get('location') ?? '';
        assert.equal(location, locationOf(answer.json), written);
        assert.notEqual((await client.request('GET', location)).status, 405, location);
      }

    const listener = (
      await client.request('POST', '/v18.0/listeners/', { body: { event_kinds: ['purchase'] } })
    ).json;
    for (const written of ['tickets', 'tickets/']) {
      const ticket = await client.request('POST', `/v18.0/listeners/${listener.id}/${written}`);
      assert.equal(ticket.json.path, `/v18.0/listeners/${listener.id}/stream`);
    }
    const { paging } = (await client.request('GET', '/v18.0/endpoints/?limit=1')).json;
    assert.match(paging.next, /^\/v18\.0\/endpoints\?limit=1&after=/);
  });

  it('may ask for lines also with a slash at the end', async () => {
    const accept = { accept: 'application/x-ndjson' };
    const path = '/v18.0/exports/?from=2026-01-01T00:00:00Z';
    assert.equal((await client.request('GET', path, { headers: accept })).status, 200);
  });

  it('is answered in well-formed Unicode, and its half of a character is refused where it would be kept', async () => {
    const body = (description: string) =>
      `{"target_url":"https://shop.example.com/hooks","event_kinds":["purchase"],"description":"${description}"}`;
    const refused = await client.request('POST', '/v18.0/endpoints', { raw: body('cut \\ud83d') });
    assert.equal(refused.json.code, 'invalid_json');
    const made = await client.request('POST', '/v18.0/endpoints', { raw: body('whole \\ud83d\\ude00') });
    assert.equal(made.json.description, 'whole 😀');
    const unknown = await client.request('GET', `/v18.0/me?fields=${'x'.repeat(63)}😀`);
    assert.equal(unknown.status, 400);
    assert.doesNotMatch(unknown.text, /\\ud/);
  });
});
