import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { type ApiClient, PURCHASE } from '../../support/api-client.js';
import { type SharedSystem, sharedSystem } from '../../support/system.js';

describe('the form of a request', () => {
  let system: SharedSystem;
  let client: ApiClient;

  before(async () => {
    system = await sharedSystem();
    client = await system.account();
  });

  const send = (method: string, path: string, headers: Record<string, string>, body?: string) =>
    fetch(system.url + path, {
      method,
      headers: { authorization: `Bearer ${client.key}`, ...headers },
      ...(body !== undefined && { body }),
    });
  const outcome = async (answer: Response) => {
    const { code, detail, errors } = (await answer.json()) as Record<string, unknown>;
    return { status: answer.status, code, detail, errors };
  };

  it('without a body is an empty one, whether or not it names its type', async () => {
    const types: Record<string, string>[] = [
      {},
      { 'content-type': 'application/json' },
      { 'content-type': 'text/plain' },
    ];
    for (const headers of types)
      for (const path of ['/v18.0/events/purchase', '/v18.0/endpoints']) {
        const { status, code } = await outcome(await send('POST', path, headers));
        assert.deepEqual([status, code], [400, 'invalid_json'], `${path} ${JSON.stringify(headers)}`);
      }
  });

  it('is answered with JSON for any type, and for none', async () => {
    for (const accept of ['*/*', 'application/*', 'text/html, */*;q=0.1', 'application/json'])
      assert.equal((await send('GET', '/v18.0/event_kinds', { accept })).status, 200, accept);
    for (const accept of ['text/html', 'application/json;q=0, text/html'])
      assert.equal((await send('GET', '/v18.0/event_kinds', { accept })).status, 406, accept);
  });

  it('of HTTP/1.1 names its host', async () => {
    const socket = connect(Number(new URL(system.url).port), '127.0.0.1');
    socket.end('GET /v18.0/me HTTP/1.1\r\nconnection: close\r\n\r\n');
    const [head = '', body = ''] = (await text(socket)).split('\r\n\r\n');
    assert.match(head, /^HTTP\/1\.1 400 /);
    assert.match(body, /"code":"malformed_request"/);
    assert.match(body, /has no Host header/);
  });

  it('has no byte order mark: the error names it', async () => {
    for (const path of ['/v18.0/events/purchase', '/v18.0/endpoints']) {
      const answer = await send('POST', path, { 'content-type': 'application/json' }, `\ufeff${PURCHASE}`);
      const { status, code, detail } = await outcome(answer);
      assert.deepEqual([status, code], [400, 'invalid_json']);
      assert.match(String(detail), /byte order mark/);
    }
  });

  it('has no number that would be kept as another', async () => {
    const filter = '{"path":"/n","equals":9007199254740993}';
    for (const [path, body, pointer] of [
      [
        '/v18.0/event_kinds',
        '{"name":"a.kind","schema":{"properties":{"n":{"maximum":9007199254740993}}}}',
        '/schema/properties/n/maximum',
      ],
      [
        '/v18.0/endpoints',
        `{"target_url":"https://shop.example.com/","event_kinds":["*"],"filter":${filter}}`,
        '/filter/equals',
      ],
    ] as const) {
      const answer = await send('POST', path, { 'content-type': 'application/json' }, body);
      const { status, code, errors } = await outcome(answer);
      assert.deepEqual([status, code], [400, 'invalid_request']);
      assert.equal((errors as { pointer: string }[])[0]?.pointer, pointer);
    }
  });

  it('of an event keeps all digits of its numbers when it is checked', async () => {
    const schema = { properties: { n: { maximum: 9007199254740992 }, price: { multipleOf: 0.01 } } };
    const added = await client.request('POST', '/v18.0/event_kinds', { body: { name: 'a.number', schema } });
    assert.equal(added.status, 201, added.text);
    for (const [raw, status] of [
      ['{"n":9007199254740993}', 400],
      ['{"n":9007199254740992,"price":19.99}', 202],
    ] as const)
      assert.equal((await client.request('POST', '/v18.0/events/a.number', { raw })).status, status, raw);
  });

  it('of an event keeps all digits of its numbers when endpoints are chosen by it', async () => {
    const added = await client.request('POST', '/v18.0/event_kinds', { body: { name: 'a.sum', schema: {} } });
    assert.equal(added.status, 201, added.text);
    const register = async (filter: object) =>
      (await client.register('https://shop.example.com/', { event_kinds: ['a.sum'], filter })).id;
    const chosen = await register({ path: '/n', greater_than: 9007199254740992 });
    await register({ path: '/n', equals: 9007199254740992 });
    const raw = '{"n":9007199254740993}';
    const { status, json } = await client.request('POST', '/v18.0/events/a.sum', { raw });
    assert.equal(status, 202);
    assert.deepEqual(
      json.deliveries.map(({ endpoint_id }: { endpoint_id: string }) => endpoint_id),
      [chosen],
    );
  });

  it('with a weak tag in If-Match does not match', async () => {
    const made = await client.request('POST', '/v18.0/profiles', { body: { username: 'ada', name: 'Ada' } });
    assert.equal(made.status, 201, made.text);
    const path = `/v18.0/profiles/${made.json.id}`;
    const etag = (await send('GET', path, {})).headers.get('etag') ?? assert.fail();
    assert.equal((await send('DELETE', path, { 'if-match': `W/${etag}` })).status, 412);
    assert.equal((await send('DELETE', path, { 'if-match': etag })).status, 204);
  });
});
