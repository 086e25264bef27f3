import assert from 'node:assert/strict';
import { TIMINGS } from '../../../src/domain/timings.js';
import { EndpointCache, MAX_READ_TOGETHER } from '../../../src/models/endpoint/endpoint-cache.js';
import type { StoredEndpoint } from '../../../src/models/endpoint/endpoint-document.js';

const endpoint = (id: string, event_kinds = ['purchase'], account_id = 'acct_1') =>
  ({ id, account_id, event_kinds }) as StoredEndpoint;

describe('what a process remembers of endpoints', () => {
  let stored: StoredEndpoint[];
  let reads: { some: number; all: number };
  let cache: EndpointCache;
  beforeEach(() => {
    stored = [endpoint('ep_0'), endpoint('ep_1')];
    reads = { some: 0, all: 0 };
    cache = new EndpointCache(async (which) => {
      const isAll = 'account_id' in which;
      reads[isAll ? 'all' : 'some'] += 1;
      return isAll
        ? stored.filter(({ account_id }) => account_id === which.account_id)
        : stored.filter(({ id }) => which._id.$in.includes(id)).reverse();
    }, TIMINGS);
  });
  const watchers = async () => (await cache.watchersOf('acct_1')).map(({ id }) => id);

  it('is read by itself, unless all have just been read together', async () => {
    await Promise.all([cache.get('acct_1', 'ep_0'), cache.get('acct_1', 'ep_0')]);
    await cache.all('acct_1');
    for (const { id } of stored) assert.equal((await cache.get('acct_1', id))?.id, id);
    assert.deepEqual(reads, { some: 1, all: 1 });
  });

  it('is read together where it is asked for together', async () => {
    const ids = ['ep_0', 'ep_none', 'ep_1'];
    const found = await Promise.all(ids.map((id) => cache.get('acct_1', id)));
    assert.deepEqual(
      found.map((one) => one?.id),
      ['ep_0', undefined, 'ep_1'],
    );
    assert.deepEqual(reads, { some: 1, all: 0 });
  });

  it('is read by more than one query if that would name too many', async () => {
    const ids = Array.from({ length: MAX_READ_TOGETHER + 1 }, (_, number) => `ep_${number}`);
    await Promise.all(ids.map((id) => cache.get('acct_1', id)));
    assert.deepEqual(reads, { some: 2, all: 0 });
  });

  it('includes an endpoint that another process has made since they were read together', async () => {
    await cache.all('acct_1');
    stored.push(endpoint('ep_new'));
    assert.equal((await cache.get('acct_1', 'ep_new'))?.id, 'ep_new');
    assert.equal(await cache.get('acct_1', 'ep_none'), undefined);
  });

  it('has the endpoints that watch others, at once if this process changes them', async () => {
    assert.deepEqual(await watchers(), []);
    const watcher = endpoint('ep_0', ['endpoint.failing']);
    stored[0] = watcher;
    cache.changed('ep_0', watcher, false);
    assert.deepEqual(await watchers(), [], 'what is noted of an endpoint makes none read again');
    cache.changed('ep_0', watcher, true);
    assert.deepEqual(await watchers(), ['ep_0']);
    stored.push(endpoint('ep_new', ['endpoint.recovered']));
    cache.forget('acct_1', 'ep_new');
    assert.deepEqual(await watchers(), ['ep_0', 'ep_new']);
    assert.deepEqual(reads, { some: 0, all: 2 });
    cache.changed('ep_0', undefined, true);
    await watchers();
    await cache.all('acct_1');
    assert.deepEqual(
      reads,
      { some: 0, all: 2 },
      'a change that was not made has nothing but itself read again',
    );
  });
});
