import assert from 'node:assert/strict';
import { MAX_QUERY_PARAMETERS } from '../../../src/api/http/bounds/query.js';
import type { Context, Development, Middleware } from '../../../src/api/http/context.js';
import {
  limitAddress,
  limitCaller,
  limitQuery,
  limitUnauthenticated,
} from '../../../src/api/limits/limit-rate.js';
import type { Limiters } from '../../../src/api/limits/limiters.js';
import { RateLimiter } from '../../../src/api/limits/rate-limiter.js';
import { API_KEY } from '../../../src/domain/access/api-key.js';
import { parseRateLimits } from '../../../src/domain/access/limits/rate-limit.js';
import { Problem } from '../../../src/domain/http/problem.js';

const LIMIT = 3;
const KEY = API_KEY.make();

describe('the limit of an address', () => {
  let limiters: Limiters;
  beforeEach(() => {
    const block = { firstMs: 60_000, longestMs: 60_000 };
    const address = new RateLimiter('address', parseRateLimits(`${LIMIT}/1d`), block, () => {});
    limiters = { address } as Limiters;
  });

  const context = (headers: Record<string, string> = {}, querystring = '') =>
    ({
      ip: '192.0.2.1',
      state: {},
      set: () => {},
      get: (name: string) => headers[name] ?? '',
      req: { headers, socket: { remoteAddress: '127.0.0.1' } },
      querystring,
      query: Object.fromEntries(new URLSearchParams(querystring)),
    }) as unknown as Context;
  /** The code of the problem that comes out, and whether what follows was reached. */
  const pass = async (middleware: Middleware, ctx: Context, ends?: unknown) => {
    let reached = false;
    const next = async () => {
      reached = true;
      if (ends) throw ends;
    };
    const code = await Promise.resolve()
      .then(() => middleware(ctx as never, next))
      .then(
        () => 'passed',
        (error: unknown) => (error instanceof Problem ? error.code : 'another error'),
      );
    return { code, reached };
  };
  const unknown = new Problem('invalid_token', 'The API key is unknown.');
  const useUp = async () => {
    for (let times = 0; times < LIMIT; times += 1)
      await pass(limitUnauthenticated(limiters), context(), unknown);
  };

  it('counts tokens that are found to be invalid, and none that cannot be looked up', async () => {
    const limit = limitUnauthenticated(limiters);
    for (const outage of [new Error('no server'), new Problem('unavailable', 'Try again.')])
      for (let times = 0; times < 3 * LIMIT; times += 1) {
        const { code } = await pass(limit, context({ authorization: `Bearer ${KEY}` }), outage);
        assert.equal(code, outage instanceof Problem ? 'unavailable' : 'another error');
      }
    await useUp();
    assert.equal(
      (await pass(limit, context({ authorization: `Bearer ${KEY}` }), unknown)).code,
      'rate_limited',
    );
  });

  it('once used up, refuses before anything else is done, except for what has the form of a token', async () => {
    await useUp();
    const limit = limitUnauthenticated(limiters);
    for (const [ctx, goesOn] of [
      [context(), false],
      [context({ authorization: 'Bearer nonsense' }), false],
      [context({}, 'access_token=nonsense'), false],
      [context({ authorization: `Bearer ${KEY}` }), true],
      [context({}, `access_token=${KEY}`), true],
    ] as const)
      assert.equal((await pass(limit, ctx)).reached, goesOn);
  });

  it('counts queries with too many parameters, none of which is read', async () => {
    const limit = limitQuery(limiters);
    const query = (parameters: number) => Array<string>(parameters).fill('a').join('&');
    assert.ok((await pass(limit, context({}, query(MAX_QUERY_PARAMETERS)))).reached);
    assert.ok((await pass(limit, context())).reached);
    const codes = [];
    for (let times = 0; times <= LIMIT; times += 1) {
      const ctx = context({}, query(MAX_QUERY_PARAMETERS + 1));
      Object.defineProperty(ctx, 'query', { get: () => assert.fail('read') });
      const { code, reached } = await pass(limit, ctx);
      assert.ok(!reached);
      codes.push(code);
    }
    assert.deepEqual(codes, [...Array(LIMIT).fill('invalid_request'), 'rate_limited']);
  });

  it('is another one for each page of ours, so that no other page locks its sign-in', async () => {
    const limit = limitAddress(limiters, {} as Development);
    const from = (origin: string) => context({ origin, host: '127.0.0.1:8080' });
    for (const origin of ['https://evil.example', 'http://127.0.0.1:8233'])
      for (let times = 0; times <= LIMIT; times += 1) await pass(limit, from(origin));
    assert.equal((await pass(limit, from('https://evil.example'))).code, 'rate_limited');
    assert.equal((await pass(limit, from('http://127.0.0.1:8080'))).code, 'passed');
  });
});

describe('the limit of an account', () => {
  it('counts the events of a request together, however long it takes until they are known', async () => {
    let now = 0;
    class Clocked extends RateLimiter {
      override consume(caller: string, _: number, perMinute?: number, times?: number) {
        return super.consume(caller, now, perMinute, times);
      }
    }
    const block = { firstMs: 1, longestMs: 1 };
    const account = new Clocked('account', parseRateLimits('3/1s'), block, () => {});
    const limit = limitCaller({ account } as unknown as Limiters);
    const post = async (events: number) => {
      const state: Record<string, unknown> = { caller: { account_id: 'acct_1' } };
      const ctx = { method: 'POST', path: '/v18.0/events', state, set: () => {} } as unknown as Context;
      await limit(ctx, async () => {
        // Its body takes until the next window.
        now += 1_000;
        ctx.state.countEvents?.(events - 1);
      });
    };
    await assert.rejects(post(4), { code: 'rate_limited' });
    now += 10_000;
    await post(3);
  });
});
