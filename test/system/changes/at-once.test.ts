import assert from 'node:assert/strict';
import { PLATFORM_SCOPES } from '../../../src/domain/access/api-key.js';
import type { ApiClient } from '../../support/api-client.js';
import { type SharedSystem, sharedSystem } from '../../support/system.js';

const AT_ONCE = 8;

describe('changes of one resource at the same time [world]', () => {
  let system: SharedSystem;
  let client: ApiClient;
  before(async () => {
    system = await sharedSystem();
    client = await system.account(PLATFORM_SCOPES);
  });

  const headers = () => ({ 'hookline-account': client.accountId });
  const make = async (path: string, body: unknown) => {
    const { status, json, text } = await client.request('POST', `/v18.0${path}`, {
      body,
      headers: headers(),
    });
    assert.equal(status, 201, text);
    return json;
  };
  const allMade = async (change: (at: number) => ReturnType<ApiClient['request']>) => {
    const all = await Promise.all(Array.from({ length: AT_ONCE }, (_, at) => change(at)));
    assert.deepEqual([...new Set(all.map(({ status, json }) => `${status} ${json.code ?? ''}`))], ['200 ']);
  };

  it('are all made to an endpoint, and its secret is rotated beside them', async () => {
    const { id } = await make('/endpoints', { target_url: 'https://127.0.0.1/', event_kinds: ['*'] });
    const path = `/v18.0/endpoints/${id}`;
    await allMade((at) =>
      at % 4 === 0
        ? client.request('POST', `${path}/secret/rotate`, { body: {}, headers: headers() })
        : client.request('PATCH', path, { body: { metadata: { [`k${at}`]: 'v' } }, headers: headers() }),
    );
    const { metadata } = (await client.request('GET', path, { headers: headers() })).json;
    assert.equal(Object.keys(metadata).length, AT_ONCE - AT_ONCE / 4);
  });

  it('are all made to a profile, an account and an event kind by who does not say what they have read', async () => {
    const profile = await make('/profiles', { username: 'ada', name: 'Ada' });
    await allMade((at) =>
      client.request('PUT', `/v18.0/profiles/${profile.id}`, {
        body: { username: `ada${at}`, name: 'Ada' },
        headers: headers(),
      }),
    );
    const account = await make('/accounts', { name: 'shop' });
    await allMade((at) =>
      client.request('PATCH', `/v18.0/accounts/${account.id}`, { body: { name: `shop ${at}` } }),
    );
    await make('/event_kinds', { name: 'at.once', schema: {} });
    await allMade((at) =>
      client.request('PUT', '/v18.0/event_kinds/at.once', {
        body: { schema: { maxProperties: at } },
        headers: headers(),
      }),
    );
    const kind = await client.request('GET', '/v18.0/event_kinds/at.once', { headers: headers() });
    assert.equal(kind.json.versions.length, AT_ONCE + 1);
  });
});
