import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { type RateLimitEvents, RateLimiter } from '../../src/api/rate-limiter.js';
import { parseRateLimits } from '../../src/domain/rate-limit.js';
import { connectDatabase } from '../../src/models/database.js';
import { type CounterFactory, memoryCounters } from '../../src/models/rate-counters.js';
import type { ApiClient } from '../support/api-client.js';
import { servers } from '../support/servers.js';
import { startSystem, type TestSystem } from '../support/system.js';

const LIMITS = {
  HOOKLINE_RATE_LIMIT_TOKEN: '3/1m,100/1h',
  HOOKLINE_RATE_LIMIT_ACCOUNT: '2/1m',
  HOOKLINE_RATE_LIMIT_ADDRESS: '4/1m',
  HOOKLINE_RATE_LIMIT_STORE: 'mongodb',
};

describe('rate limits of the API', () => {
  let system: TestSystem;
  let second: TestSystem;
  before(async () => {
    system = await startSystem(LIMITS, 'api');
    second = await startSystem({ ...LIMITS, MONGODB_URI: system.environment['MONGODB_URI'] ?? '' }, 'api');
    await system.database.createIndexes();
  });
  after(async () => {
    await second.stop();
    await system.stop();
  });

  it('stand on every answer, and are counted by all processes together', async () => {
    const client = await system.account();
    const headers = { authorization: `Bearer ${client.key}` };
    const ask = (url: string) => fetch(`${url}/v18.0/me`, { headers });
    const first = await ask(system.url);
    assert.equal(first.headers.get('ratelimit-policy'), '"token-1m";q=3;w=60, "token-1h";q=100;w=3600');
    assert.match(
      first.headers.get('ratelimit') ?? '',
      /^"token-1m";r=2;t=(60|59|58), "token-1h";r=99;t=3\d{3}$/,
    );
    assert.match((await ask(second.url)).headers.get('ratelimit') ?? '', /^"token-1m";r=1;/);
    assert.match((await ask(system.url)).headers.get('ratelimit') ?? '', /^"token-1m";r=0;/);
    const refused = await ask(second.url);
    assert.equal(refused.status, 429);
    assert.equal(((await refused.json()) as { code: string }).code, 'rate_limited');
    const wait = Number(refused.headers.get('retry-after'));
    assert.ok(wait > 50 && wait <= 60, `${wait}`);
    assert.match(refused.headers.get('ratelimit') ?? '', new RegExp(`^"token-1m";r=0;t=${wait}$`));
  });

  it('count a token’s queries apart from its account’s events', async () => {
    const client = await system.account();
    const post = (who: ApiClient) => who.request('POST', '/v18.0/events/purchase', { raw: 'no purchase' });
    assert.match((await post(client)).headers.get('ratelimit') ?? '', /^"account-1m";r=1;/);
    await post(client);
    assert.equal((await post(client)).status, 429);
    assert.equal((await client.request('GET', '/v18.0/me')).status, 200);
  });

  it('count what has no valid token by address, and let valid tokens of the address pass', async () => {
    const client = await system.account();
    const paths = ['/v18.0/me', '/v17.0/me', '/v99.0/me', '/nothing', '/v18.0/me'];
    const statuses = [];
    for (const path of paths) statuses.push((await fetch(system.url + path)).status);
    assert.deepEqual(statuses, [401, 410, 404, 404, 429]);
    assert.equal((await client.request('GET', '/v18.0/me')).status, 200);
  });

  it('show in the metrics', async () => {
    const metrics = await (await fetch(`${second.url}/metrics`)).text();
    assert.match(metrics, /hookline_rate_limited_requests_total\{policy="token-1m"\} 1/);
  });
});

describe('a rate limiter', () => {
  const silent: RateLimitEvents = { storeFailed: assert.fail, refused: () => {} };
  const limiter = (counters: CounterFactory, text: string, events = silent) =>
    new RateLimiter('token', parseRateLimits(text), counters, { first_ms: 2_000, longest_ms: 8_000 }, events);
  const waits = async (limited: RateLimiter, times: number) => {
    const seconds = [];
    for (let n = 0; n < times; n++) {
      const { refusal } = await limited.consume('ada');
      seconds.push(refusal ? Number(refusal.headers['retry-after']) : 0);
    }
    return seconds;
  };

  it('lets a caller pass again after exactly what Retry-After says', async () => {
    const limited = limiter(memoryCounters, '2/1s');
    const [, , wait] = await waits(limited, 3);
    assert.equal(wait, 1);
    await delay(1_000 * (wait ?? 0));
    assert.deepEqual(await waits(limited, 1), [0]);
  });

  it('blocks a caller who goes on for a growing time', async () => {
    const seconds = await waits(limiter(memoryCounters, '1/1s'), 41);
    assert.deepEqual(
      [seconds[0], seconds[9], seconds[10], seconds[20], seconds[30], seconds[40]],
      [0, 1, 2, 4, 8, 8],
    );
  });

  it('lets requests pass where its store is gone, and says so', async () => {
    const uri = new URL(servers().mongodbUri);
    uri.pathname = '/rate-limit-outage';
    const database = await connectDatabase(uri.href);
    const failures: unknown[] = [];
    const limited = limiter(database.rateCounters, '1/1m', {
      storeFailed: (error) => failures.push(error),
      refused: assert.fail,
    });
    await database.close();
    assert.deepEqual(await waits(limited, 5), [0, 0, 0, 0, 0]);
    assert.equal(failures.length, 1, 'told of once, then the store is left alone for a while');
  });
});
