import assert from 'node:assert/strict';
import { type Answer, type ApiClient, PURCHASE } from '../../support/api-client.js';
import { type Receiver, reply, startReceiver } from '../../support/receiver.js';
import { type SharedSystem, sharedSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

describe('requests to the API', () => {
  let system: SharedSystem;
  let receiver: Receiver;
  let client: ApiClient;

  before(async () => {
    system = await sharedSystem();
    receiver = await startReceiver();
  });
  after(() => receiver.close());
  beforeEach(async () => {
    client = await system.account();
  });

  function isProblem(answer: Answer, status: number, code: string): void {
    assert.equal(answer.status, status, answer.text);
    assert.equal(answer.headers.get('content-type')?.split(';')[0], 'application/problem+json');
    assert.equal(answer.json.code, code);
    assert.equal(answer.json.status, status);
    assert.ok(answer.json.type.endsWith(`/errors/${code}`), answer.json.type);
    assert.ok(answer.json.title && answer.json.detail);
    assert.match(answer.json.request_id, /^req_/);
    assert.equal(answer.headers.get('x-request-id'), answer.json.request_id);
  }

  const cases: [string, string, number, string][] = [
    ['GET', '/v18.0/nothing', 404, 'not_found'],
    ['GET', '/', 404, 'not_found'],
    ['GET', '/v17.0/events', 410, 'version_withdrawn'],
    ['GET', '/v99.0/events', 404, 'version_unknown'],
    ['GET', '/v18.0/deliveries/%zz', 404, 'not_found'],
    ['GET', '/v18.0/deliveries/dlv_x', 404, 'not_found'],
    ['GET', "/v18.0/events/evt_' OR ''='", 404, 'not_found'],
    ['POST', '/v18.0/events/refund', 404, 'unknown_event_kind'],
    ['PATCH', '/v18.0/endpoints', 405, 'method_not_allowed'],
    ['DELETE', '/v18.0/events', 405, 'method_not_allowed'],
    ['GET', '/v18.0/events?limit=0', 400, 'invalid_request'],
    ['GET', '/v18.0/events?limit=101', 400, 'invalid_request'],
    ['GET', '/v18.0/events?nonsense=1', 400, 'invalid_request'],
    ['GET', '/v18.0/events?created_after=yesterday', 400, 'invalid_request'],
    ['GET', '/v18.0/deliveries?status=lost', 400, 'invalid_request'],
    ['GET', '/v18.0/deliveries?endpoint_id=x', 400, 'invalid_request'],
    ['GET', '/v18.0/deliveries?after=bm9uc2Vuc2U', 400, 'invalid_request'],
    ['GET', '/v18.0/deliveries?after=***', 400, 'invalid_request'],
    ['GET', '/v18.0/events?after=bm9uc2Vuc2U', 400, 'invalid_request'],
    ['GET', '/v18.0/endpoints?after=bm9uc2Vuc2U', 400, 'invalid_request'],
  ];
  for (const [method, path, status, code] of cases) {
    it(`${method} ${path} answers ${status} ${code}`, async () => {
      const raw = method === 'POST' ? { raw: PURCHASE } : {};
      isProblem(await client.request(method, path, raw), status, code);
    });
  }

  it('by a wrong method get the allowed ones', async () => {
    const answer = await client.request('PATCH', '/v18.0/endpoints');
    assert.deepEqual(answer.headers.get('allow')?.split(', ').sort(), ['GET', 'HEAD', 'POST']);
  });

  it('that post an event without its kind are told where it goes', async () => {
    const { json } = await client.request('POST', '/v18.0/events', { raw: PURCHASE });
    assert.match(json.detail, /one event alone is posted to \/events\/\{kind\}/);
  });

  it('with an unknown parameter get the known ones', async () => {
    const answer = await client.request('GET', '/v18.0/profiles?page=2');
    isProblem(answer, 400, 'invalid_request');
    assert.deepEqual(answer.json.errors, [
      { parameter: 'page', detail: 'is unknown; known here: limit, after, fields' },
    ]);
    assert.equal(
      answer.json.detail,
      'The request is not valid: page is unknown; known here: limit, after, fields.',
    );
  });

  it('with a body of another media type or encoding are refused', async () => {
    for (const [name, value] of [
      ['content-type', 'text/plain'],
      ['content-encoding', 'gzip'],
    ] as const) {
      const headers = { [name]: value };
      const answer = await client.request('POST', '/v18.0/events/purchase', { raw: PURCHASE, headers });
      isProblem(answer, 415, 'unsupported_media_type');
    }
  });

  it('with a wrong payload name every place', async () => {
    const answer = await client.request('POST', '/v18.0/events/purchase', { body: { order_id: 1 } });
    isProblem(answer, 400, 'invalid_payload');
    assert.ok(answer.json.errors.some((error: { pointer: string }) => error.pointer === '/order_id'));
    const malformed = await client.request('POST', '/v18.0/events/purchase', { raw: '{\n"a": }' });
    isProblem(malformed, 400, 'invalid_json');
    assert.match(malformed.json.detail, /line 2, column 6/);
  });

  it('with an idempotency key that is none are refused', async () => {
    for (const key of ['a b', 'x'.repeat(256)]) {
      const answer = await client.request('POST', '/v18.0/events/purchase', {
        raw: PURCHASE,
        headers: { 'idempotency-key': key },
      });
      isProblem(answer, 400, 'invalid_request');
      assert.equal(answer.json.errors[0].parameter, 'Idempotency-Key');
    }
  });

  describe('about endpoints', () => {
    const body = (more: object = {}) => ({ target_url: receiver.url, event_kinds: ['purchase'], ...more });

    it('create, read, replace and delete one; its secret is shown at creation and by its own route', async () => {
      const created = await client.request('POST', '/v18.0/endpoints', {
        body: body({ description: 'one' }),
      });
      assert.equal(created.status, 201);
      const { id, secret } = created.json;
      assert.match(secret, /^whsec_/);
      const path = `/v18.0/endpoints/${id}`;
      assert.equal(created.headers.get('location'), path);
      const read = await client.request('GET', path);
      assert.equal(read.json.description, 'one');
      const replaced = await client.request('PUT', path, { body: body({ status: 'paused' }) });
      assert.equal(replaced.json.status, 'paused');
      assert.equal(replaced.json.description, '');
      const list = await client.request('GET', '/v18.0/endpoints');
      for (const answer of [read, replaced, list]) assert.ok(!answer.text.includes('whsec_'));
      const shown = await client.request('GET', `${path}/secret`);
      assert.deepEqual(shown.json, { secret, signature_scheme: 'v1' });
      assert.equal(shown.headers.get('cache-control'), 'no-store');
      assert.equal((await client.request('DELETE', path)).status, 204);
      isProblem(await client.request('GET', path), 404, 'not_found');
      isProblem(await client.request('DELETE', path), 404, 'not_found');
    });

    const refused: [object, string, string][] = [
      [{ target_url: 'http://example.com/' }, 'insecure_target_url', '/target_url'],
      [{ target_url: 'nowhere' }, 'invalid_request', '/target_url'],
      [{ event_kinds: [] }, 'invalid_request', '/event_kinds'],
      [{ event_kinds: ['purchase', 'x'] }, 'invalid_request', '/event_kinds/1'],
      [{ status: 'disabled' }, 'invalid_request', '/status'],
      [{ retry_schedule: ['5s', 'soon'] }, 'invalid_request', '/retry_schedule/1'],
    ];
    for (const [more, code, pointer] of refused) {
      it(`with ${JSON.stringify(more)} are refused: ${code} at ${pointer}`, async () => {
        const answer = await client.request('POST', '/v18.0/endpoints', { body: body(more) });
        isProblem(answer, 400, code);
        assert.equal(answer.json.errors[0].pointer, pointer);
      });
    }

    it('page through the list, and leave the token out of the link', async () => {
      const ids: string[] = [];
      for (let count = 0; count < 5; count++) ids.push((await client.register(receiver.url)).id);
      const seen: string[] = [];
      let path: string | undefined = `/v18.0/endpoints?limit=2&access_token=${client.key}`;
      for (let pages = 0; path; pages++) {
        assert.ok(pages < 4);
        const separator: string = path.includes('access_token') ? '' : `&access_token=${client.key}`;
        const response: Response = await fetch(system.url + path + separator);
        const page = (await response.json()) as { data: { id: string }[]; paging: { next?: string } };
        seen.push(...page.data.map(({ id }) => id));
        path = page.paging.next;
        assert.ok(!path?.includes('access_token'));
      }
      assert.deepEqual(seen, ids.sort());
    });
  });

  describe('about deliveries and events', () => {
    it('filter by each property, and page [world]', async () => {
      receiver.handle(reply(200));
      const endpoint = await client.register(receiver.url);
      const other = await client.register(receiver.url, { status: 'paused' });
      const start = new Date(Date.now() - 60_000).toISOString();
      const event = await client.purchase();
      const second = await client.purchase();
      const list = async (query: string) =>
        (await client.request('GET', `/v18.0/deliveries?${query}`)).json.data as { id: string }[];
      await until(
        async () => [(await list('status=delivered')).length, (await list('status=parked')).length],
        ([delivered, parked]) => delivered === 2 && parked === 2,
      );
      const counts: [string, number][] = [
        ['', 4],
        [`endpoint_id=${endpoint.id}`, 2],
        [`endpoint_id=${other.id}&status=parked`, 2],
        [`endpoint_id=${other.id}&status=delivered`, 0],
        [`event_id=${event.id}`, 2],
        [`event_id=${second.id}&endpoint_id=${endpoint.id}`, 1],
        ['event_kind=purchase', 4],
        ['event_kind=order.shipped', 0],
        [`created_after=${start}`, 4],
        [`created_before=${start}`, 0],
      ];
      for (const [query, count] of counts) assert.equal((await list(query)).length, count, query);

      const seen = new Set<string>();
      let path: string | undefined = '/v18.0/deliveries?limit=3';
      for (let pages = 0; path; pages++) {
        assert.ok(pages < 3);
        const page: Answer = await client.request('GET', path);
        for (const { id } of page.json.data) seen.add(id);
        path = page.json.paging.next;
      }
      assert.equal(seen.size, 4);

      const events = async (query: string) =>
        (await client.request('GET', `/v18.0/events?${query}`)).json.data.length;
      assert.equal(await events('kind=purchase'), 2);
      assert.equal(await events('kind=other'), 0);
      assert.equal(await events(`created_after=${start}`), 2);
      assert.equal(await events(`created_before=${start}`), 0);
    });
  });
});
