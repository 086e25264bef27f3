import assert from 'node:assert/strict';
import type { Filter } from '../../../packages/payload-contract/src/filter/index.js';
import { FILTER_BOUNDS } from '../../../packages/payload-contract/src/filter/index.js';
import { OPERATOR } from '../../../src/domain/change/change.js';
import type { ApiClient } from '../../support/api-client.js';
import { type SharedSystem, sharedSystem } from '../../support/system.js';

const TARGET = 'https://127.0.0.1:8443/hook';
const PATH = '/v18.0/endpoints';

describe('filters of endpoints', () => {
  let system: SharedSystem;
  let client: ApiClient;
  before(async () => {
    system = await sharedSystem();
  });
  beforeEach(async () => {
    client = await system.account();
  });

  /** An endpoint as it is in the database, whatever the API allows today. */
  const stored = (filter: Filter) =>
    system.database.endpoints.create(
      client.accountId,
      {
        target_url: TARGET,
        event_kinds: ['purchase'],
        filter,
        description: '',
        metadata: {},
        headers: {},
        status: 'active',
        status_when_verified: 'active',
        verification_method: 'challenge',
      },
      OPERATOR,
    );

  it('have a bound together: what is registered beyond it is refused, and what becomes shorter never is [world]', async () => {
    const longest: Filter = { path: '/total', in: Array(100).fill('v'.repeat(150)) };
    const size = JSON.stringify(longest).length;
    assert.ok(size <= FILTER_BOUNDS.size);
    const count = Math.floor(FILTER_BOUNDS.sizeOfAll / size);
    const all = await Promise.all(Array.from({ length: count }, () => stored(longest)));
    const body = { target_url: TARGET, event_kinds: ['purchase'], filter: longest };
    const refused = await client.request('POST', PATH, { body });
    assert.deepEqual([refused.status, refused.json.code], [409, 'filter_limit_reached'], refused.text);
    assert.match(
      refused.json.detail,
      /more than 1048576 characters of JSON: this one has \d+, the others \d+/,
    );
    const listener = await client.request('POST', '/v18.0/listeners', {
      body: { event_kinds: ['purchase'], filter: longest },
    });
    assert.equal(listener.json.code, 'filter_limit_reached');
    const change = (body: unknown) => client.request('PATCH', `${PATH}/${all[0]?.id}`, { body });
    const longer = { all: [longest, { path: '/currency', in: Array(10).fill('EUR'.repeat(80)) }] };
    assert.equal(
      (await change({ filter: { path: null, in: null, ...longer } })).json.code,
      'invalid_request',
    );
    assert.equal((await change({ description: 'the same filter' })).status, 200);
    assert.equal((await change({ filter: null })).status, 200);
    assert.equal((await client.request('POST', PATH, { body })).status, 201);
  });

  it('have that bound also if many are registered, and changed, at once [world]', async () => {
    const longest: Filter = { path: '/total', in: Array(100).fill('v'.repeat(150)) };
    const count = Math.floor(FILTER_BOUNDS.sizeOfAll / JSON.stringify(longest).length);
    await Promise.all(Array.from({ length: count - 2 }, () => stored(longest)));
    const others = await Promise.all([1, 2, 3].map(() => stored({ path: '/total', exists: true })));
    const body = { target_url: TARGET, event_kinds: ['purchase'], filter: longest };
    const answers = await Promise.all([
      ...others.map(({ id }) =>
        client.request('PATCH', `${PATH}/${id}`, { body: { filter: { exists: null, ...longest } } }),
      ),
      ...[1, 2, 3].map(() => client.request('POST', PATH, { body })),
    ]);
    const refused = answers.filter(({ json }) => json.code === 'filter_limit_reached');
    assert.equal(refused.length, answers.length - 2, answers.map(({ status }) => status).join());
  });

  it('from before a bound stay, until they are changed', async () => {
    const path = '/a'.repeat(FILTER_BOUNDS.levels + 1);
    const { id } = await stored({ path, equals: 1 });
    for (const act of ['pause', 'resume'])
      assert.equal((await client.request('POST', `${PATH}/${id}/${act}`)).status, 200);
    const patch = (body: unknown) => client.request('PATCH', `${PATH}/${id}`, { body });
    const { status, json } = await patch({ description: 'x' });
    assert.deepEqual([status, json.filter], [200, { path, equals: 1 }]);
    const refused = await patch({ filter: { equals: 2 } });
    assert.deepEqual(refused.json.errors, [
      { pointer: '/filter/path', detail: `must have at most ${FILTER_BOUNDS.levels} levels` },
    ]);
    assert.deepEqual((await patch({ filter: { path: '/total' } })).json.filter, {
      path: '/total',
      equals: 1,
    });
  });
});
