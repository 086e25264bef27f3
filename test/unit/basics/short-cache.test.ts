import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { ShortCache } from '../../../src/models/mongo/short-cache.js';
import { mockMonotonic } from '../../support/clock.js';

/** Longer than a test lasts, milliseconds. */
const LONG = 3_600_000;

describe('a short cache', () => {
  afterEach(() => mock.restoreAll());

  function counted(lifetime = LONG, maxEntries?: number) {
    const cache = new ShortCache<string>(lifetime, maxEntries);
    let lookUps = 0;
    const get = (key = 'key') =>
      cache.get(key, async () => {
        lookUps += 1;
        return `${key} ${lookUps}`;
      });
    return { cache, get };
  }

  it('shares a look-up, under way and afterwards, as long as it is remembered', async () => {
    const { get } = counted();
    assert.deepEqual(await Promise.all([get(), get()]), ['key 1', 'key 1']);
    assert.equal(await get(), 'key 1');
    let now = LONG;
    mockMonotonic(() => now);
    const forgetful = counted(1);
    assert.equal(await forgetful.get(), 'key 1');
    now += 2;
    assert.equal(await forgetful.get(), 'key 2');
  });

  it('remembers nothing for longer if the clock of the machine is set back', async () => {
    let now = LONG;
    mockMonotonic(() => now);
    mock.method(Date, 'now', () => LONG - now);
    const { get } = counted(1_000);
    await get();
    now += 1_001;
    assert.equal(await get(), 'key 2');
  });

  it('looks up again what was forgotten, and what had to make room', async () => {
    const { cache, get } = counted(LONG, 1);
    await get('a');
    cache.forget('a');
    assert.equal(await get('a'), 'a 2');
    await get('b');
    assert.equal(await get('a'), 'a 4');
  });

  it('remembers neither a failed look-up nor a change of it', async () => {
    const cache = new ShortCache<string>(LONG);
    const failing = cache.get('key', async () => {
      throw new Error('no database');
    });
    cache.change('key', (value) => `${value}, changed`);
    await assert.rejects(failing, /no database/);
    assert.equal(await cache.get('key', async () => 'found'), 'found');
  });

  it('remembers what was changed no longer than it would have been', async () => {
    let now = LONG;
    mockMonotonic(() => now);
    const { cache, get } = counted(1_000);
    await get();
    now += 900;
    cache.change('key', () => 'changed');
    assert.equal(await get(), 'changed');
    now += 101;
    cache.change('key', () => 'too late');
    assert.equal(await get(), 'key 2');
  });

  it('changes what it remembers, also where the look-up is under way, and nothing else', async () => {
    const { cache, get } = counted();
    cache.change('key', () => 'never asked for');
    const underWay = get();
    cache.change('key', (value) => `${value}, changed`);
    assert.equal(await get(), 'key 1, changed');
    assert.equal(await underWay, 'key 1');
    cache.change('key', (value) => `${value} twice`);
    assert.equal(await get(), 'key 1, changed twice');
  });
});
