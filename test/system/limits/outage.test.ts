import assert from 'node:assert/strict';
import { connectDatabase } from '../../../src/models/database.js';
import { type ApiClient, PURCHASE } from '../../support/api-client.js';
import { type FreezingProxy, startFreezingProxy } from '../../support/outside/freezing-proxy.js';
import { databaseIn, servers } from '../../support/servers.js';
import { newAccount, startSystem, type TestSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

/** Windows of a day: none ends meanwhile. */
const MOST = 4;
const LIMITS = Object.fromEntries(
  ['TOKEN', 'ACCOUNT', 'ADDRESS'].map((kind) => [`HOOKLINE_RATE_LIMIT_${kind}`, `${MOST}/1d`]),
);

describe('an outage of MongoDB [world]', () => {
  let system: TestSystem;
  let mongodb: FreezingProxy;
  let keys: ApiClient[];

  before(async () => {
    const { mongodbUri } = servers();
    mongodb = await startFreezingProxy(new URL(mongodbUri).host);
    const name = `outage${Date.now()}`;
    system = await startSystem({ ...LIMITS, MONGODB_URI: `mongodb://${mongodb.address}/${name}` }, 'api');
    const database = await connectDatabase(databaseIn(mongodbUri, name));
    keys = [await newAccount(database, system.url), await newAccount(database, system.url)];
    await database.close();
    // The OAuth library is loaded, and has read what it needs.
    await fetch(`${system.url}/oauth/jwks`);
  });
  after(async () => {
    mongodb.thaw();
    await system.stop();
    await mongodb.close();
  });

  const token = () =>
    fetch(`${system.url}/oauth/token`, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'client_credentials',
        client_id: 'client_x',
        client_secret: 'x',
      }),
    });

  it('is answered with 503 alone, and counts against no token, account or address', async () => {
    const [known, unseen] = keys as [ApiClient, ApiClient];
    // Its look-up is kept for a moment, so that requests are counted against it.
    assert.equal((await known.request('GET', '/v18.0/me')).status, 200);
    mongodb.freeze();
    for (const round of ['first', 'second']) {
      const several = <T>(times: number, ask: () => Promise<T>) => Array.from({ length: times }, ask);
      const all = await Promise.all([
        ...several(MOST - 1, () => known.request('GET', '/v18.0/endpoints')),
        ...several(MOST, () => known.request('POST', '/v18.0/events/purchase', { raw: PURCHASE })),
        ...several(3 * MOST, () => unseen.request('GET', '/v18.0/me')),
        ...several(MOST - 1, token),
      ]);
      assert.deepEqual([...new Set(all.map(({ status }) => status))], [503], `${round} round`);
    }

    mongodb.thaw();
    // Requests that are too early are not counted either.
    await until(
      () => unseen.request('GET', '/v18.0/me'),
      ({ status }) => status !== 503,
    ).then(({ status }) => assert.equal(status, 200));
    assert.equal((await fetch(`${system.url}/v18.0/me`)).status, 401, 'the address is not blocked');
    assert.equal((await token()).status, 401);
  });
});
