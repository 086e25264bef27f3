import assert from 'node:assert/strict';
import { sharedNow } from '../../../src/domain/time/shared-time.js';
import { type ApiClient, apiClient } from '../../support/api-client.js';
import { startSystem, type TestSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

/** Windows of a day: no test runs into the end of one but at midnight. */
const LIMITS = {
  HOOKLINE_RATE_LIMIT_TOKEN: '100/12h,200/1d',
  HOOKLINE_RATE_LIMIT_ACCOUNT: '2/1d',
  HOOKLINE_RATE_LIMIT_ADDRESS: '4/1d',
  HOOKLINE_RATE_LIMIT_STORE: 'mongodb',
};

describe('rate limits of the API', () => {
  let system: TestSystem;
  let second: TestSystem;
  before(async () => {
    system = await startSystem(LIMITS, 'api');
    second = await startSystem({ ...LIMITS, MONGODB_URI: system.environment['MONGODB_URI'] ?? '' }, 'api');
  });
  after(async () => {
    await second.stop();
    await system.stop();
  });

  const post = (who: ApiClient) => who.request('POST', '/v18.0/events/purchase', { raw: 'no purchase' });

  it('stand on every answer, and are counted by all processes together', async () => {
    const client = await system.account();
    const ask = async (url: string) => {
      const answer = await fetch(`${url}/v18.0/me`, { headers: { authorization: `Bearer ${client.key}` } });
      assert.equal(answer.status, 200);
      assert.equal(
        answer.headers.get('ratelimit-policy'),
        '"token-12h";q=100;w=43200, "token-1d";q=200;w=86400',
      );
      const limits = /^"token-12h";r=(\d+);t=\d+, "token-1d";r=(\d+);t=\d+$/.exec(
        answer.headers.get('ratelimit') ?? '',
      );
      return limits?.slice(1).map(Number);
    };
    assert.deepEqual(await ask(system.url), [99, 199]);
    assert.deepEqual(await ask(system.url), [98, 198]);
    let asked = 0;
    await until(
      async () => {
        asked += 1;
        return ask(second.url);
      },
      (left) => left?.[0] === 98 - asked && left[1] === 198 - asked,
    );
  });

  it('refuse requests beyond the limit, say for how long, and are known to processes that start later', async () => {
    const client = await system.account();
    await post(client);
    assert.match((await post(client)).headers.get('ratelimit') ?? '', /^"account-1d";r=0;t=\d+$/);
    const secondsLeft = () => 86_400 - ((sharedNow() / 1_000) % 86_400);
    const most = secondsLeft();
    const refused = await post(client);
    const least = secondsLeft();
    assert.equal(refused.status, 429);
    assert.equal(refused.json.code, 'rate_limited');
    const wait = Number(refused.headers.get('retry-after'));
    assert.ok(wait >= Math.floor(least) && wait <= Math.ceil(most) + 1, `${least} <= ${wait} <= ${most}`);
    assert.equal(refused.headers.get('ratelimit'), `"account-1d";r=0;t=${wait}`);
    assert.equal((await client.request('GET', '/v18.0/me')).status, 200, 'queries are counted apart');
    const metrics = await (await fetch(`${system.url}/metrics`)).text();
    assert.match(metrics, /hookline_rate_limited_requests_total\{policy="account-1d"\} 1/);

    await until(
      () => system.database.rateWindows.open(Date.now()),
      (windows) =>
        windows.some(
          ({ id, columns }) => id.startsWith('account') && Object.values(columns['counts'] ?? {}).includes(2),
        ),
    );
    const later = await startSystem(
      { ...LIMITS, MONGODB_URI: system.environment['MONGODB_URI'] ?? '' },
      'api',
    );
    assert.equal((await post(apiClient(later.url, client))).status, 429);
    await later.stop();
  });

  it('count requests without a valid token by address, and accept valid tokens from it', async () => {
    const client = await system.account();
    const paths = ['/v18.0/me', '/v17.0/me', '/v99.0/me', '/nothing', '/v18.0/me'];
    const statuses = [];
    for (const path of paths) statuses.push((await fetch(system.url + path)).status);
    assert.deepEqual(statuses, [401, 410, 404, 404, 429]);
    assert.equal((await client.request('GET', '/v18.0/me')).status, 200);
  });
});
