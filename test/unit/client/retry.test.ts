import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { Hookline, HooklineConnectionError, HooklineError } from '../../../clients/typescript/src/index.js';

type Step = Response | Error | ((request: Request) => Promise<Response>);

const problem = (status: number, code: string, headers: Record<string, string> = {}) =>
  Response.json(
    { type: `urn:x:${code}`, title: code, status, detail: `It is ${code}.`, code, request_id: 'req_1' },
    { status, headers: { 'content-type': 'application/problem+json', ...headers } },
  );
const accepted = () => Response.json({ id: 'evt_1' }, { status: 202 });
const lost = () => new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED') });

/** A client whose server answers with these steps, one after the other. */
function client(...steps: Step[]) {
  const sent: { method: string; path: string; key: string | null; body: string }[] = [];
  const answer = async (input: Parameters<typeof fetch>[0]) => {
    const request = input as Request;
    const { pathname, search } = new URL(request.url);
    const key = request.headers.get('idempotency-key');
    sent.push({ method: request.method, path: pathname + search, key, body: await request.text() });
    const step = steps.shift();
    ok(step, 'one request more than expected');
    if (step instanceof Error) throw step;
    return typeof step === 'function' ? await step(request) : step;
  };
  const retry = { tries: 3, maxWaitMs: 1_000 };
  return {
    hookline: new Hookline({ url: 'http://hookline.test/', token: 'key', retry, fetch: answer }),
    sent,
  };
}

describe('the client', () => {
  it('repeats an event with the same key and bytes after a lost connection, a 503 and an answer that breaks off', async () => {
    const brokenOff = new Response(
      new ReadableStream({ start: (controller) => controller.error(new Error('reset')) }),
    );
    for (const failure of [lost(), problem(503, 'unavailable'), brokenOff]) {
      const { hookline, sent } = client(failure, accepted());
      equal((await hookline.postEvent('purchase', '{"total": 12.50}')).id, 'evt_1');
      equal(sent.length, 2);
      deepEqual(sent[0], sent[1]);
      equal(sent[0]?.body, '{"total": 12.50}');
      ok(sent[0]?.key);
    }
  });

  it('makes a key for each event, and takes one that it is given', async () => {
    const { hookline, sent } = client(accepted(), accepted(), accepted());
    await hookline.postEvent('purchase', {});
    await hookline.postEvent('purchase', {});
    await hookline.postEvent('purchase', {}, { idempotencyKey: 'order-1' });
    equal(new Set(sent.map(({ key }) => key)).size, 3);
    equal(sent[2]?.key, 'order-1');
  });

  it('repeats no POST that may have been done, except after 429', async () => {
    const body = { target_url: 'https://x.test', event_kinds: ['purchase'] };
    const { hookline, sent } = client(problem(429, 'rate_limited', { 'retry-after': '0' }), lost());
    await rejects(hookline.post('/v18.0/endpoints', { body }), HooklineConnectionError);
    equal(sent.length, 2);
    const unavailable = client(problem(503, 'unavailable', { 'retry-after': '0' }));
    await rejects(unavailable.hookline.post('/v18.0/endpoints', { body }), { code: 'unavailable' });
  });

  it('gives up after its tries, or at once if it would have to wait too long', async () => {
    const thrice = client(lost(), lost(), lost());
    await rejects(thrice.hookline.get('/v18.0/me'), (error) => {
      ok(error instanceof HooklineConnectionError);
      equal(error.message, 'http://hookline.test did not respond: connect ECONNREFUSED');
      return true;
    });
    const { hookline } = client(problem(429, 'rate_limited', { 'retry-after': '30' }));
    await rejects(hookline.get('/v18.0/me'), (error) => {
      ok(error instanceof HooklineError);
      deepEqual([error.status, error.code, error.retryAfterMs], [429, 'rate_limited', 30_000]);
      deepEqual([error.requestId, error.message], ['req_1', 'It is rate_limited.']);
      return true;
    });
  });

  it('waits until the date that Retry-After names', async () => {
    const inOneSecond = new Date(Math.ceil(Date.now() / 1000) * 1000).toUTCString();
    const { hookline } = client(
      problem(503, 'unavailable', { 'retry-after': inOneSecond }),
      Response.json({ id: 'prof_1' }),
    );
    await hookline.get('/v18.0/me');
    // By the clock of the day a timer may end a millisecond early.
    ok(Date.now() >= Date.parse(inOneSecond) - 1);
  });

  it('takes a 404 for done if the answer to an earlier DELETE was lost', async () => {
    const path = { params: { path: { id: 'ep_1' } } };
    const { hookline } = client(lost(), problem(404, 'not_found'));
    equal(await hookline.delete('/v18.0/endpoints/{id}', path), undefined);
    const absent = client(problem(404, 'not_found'));
    await rejects(absent.hookline.delete('/v18.0/endpoints/{id}', path), { code: 'not_found' });
  });

  it('stops at once when it is aborted, under way and while it waits', async () => {
    const stop = new AbortController();
    const { hookline, sent } = client((request) => {
      return new Promise((_resolve, reject) => {
        request.signal.addEventListener('abort', () => reject(request.signal.reason));
        stop.abort(new Error('no longer wanted'));
      });
    });
    await rejects(hookline.get('/v18.0/me', { signal: stop.signal }), /no longer wanted/);
    equal(sent.length, 1);

    const later = new AbortController();
    const waiting = client(problem(429, 'rate_limited', { 'retry-after': '1' }));
    setImmediate(() => later.abort(new Error('no longer wanted')));
    await rejects(waiting.hookline.get('/v18.0/me', { signal: later.signal }), /no longer wanted/);
  });

  it('says of an answer that is not from Hookline that it is unexpected', async () => {
    const { hookline } = client(new Response('<h1>Not here</h1>', { status: 404 }));
    await rejects(hookline.get('/v18.0/me'), { status: 404, code: 'unexpected_answer' });
  });

  it('writes several values with commas, and reads a list to its end', async () => {
    const page = (id: string, after?: string) =>
      Response.json({
        data: [{ id }],
        paging: { cursors: { after: 'c1' }, ...(after && { next: `/v18.0/deliveries?after=${after}` }) },
      });
    const { hookline, sent } = client(page('dlv_1', 'c1'), page('dlv_2'));
    const ids: string[] = [];
    for await (const { id } of hookline.list('/v18.0/deliveries', {
      query: { status: ['parked', 'retrying'] },
    }))
      ids.push(id);
    deepEqual(ids, ['dlv_1', 'dlv_2']);
    deepEqual(
      sent.map(({ path }) => path),
      ['/v18.0/deliveries?status=parked,retrying', '/v18.0/deliveries?status=parked,retrying&after=c1'],
    );
  });
});
