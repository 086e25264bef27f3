import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { requireBoxes } from '../../../src/bin/process/secrets.js';
import { loadSettings } from '../../../src/config/load.js';
import { newId } from '../../../src/domain/basics/ids.js';
import { TIMINGS } from '../../../src/domain/timings.js';
import { connectDatabase, type Database } from '../../../src/models/database.js';
import { mockMonotonic } from '../../support/clock.js';
import { testEnvironment } from '../../support/system.js';

describe('a data key that was erased', () => {
  let process: Database;
  let other: Database;
  before(async () => {
    const settings = loadSettings(await testEnvironment());
    const connect = () => connectDatabase(settings.MONGODB_URI ?? '', requireBoxes(settings));
    [process, other] = await Promise.all([connect(), connect()]);
  });
  afterEach(() => mock.restoreAll());
  after(async () => {
    await Promise.all([process.close(), other.close()]);
  });

  it('is forgotten at once where it was erased: nothing more is sealed with it', async () => {
    const account = newId('account');
    const { id } = await process.dataKeys.obtain(account, 'ada');
    assert.ok(await process.dataKeys.find(account, id));
    await process.dataKeys.erase(account, id);
    assert.equal(await process.dataKeys.find(account, id), undefined);
    assert.notEqual((await process.dataKeys.obtain(account, 'ada')).id, id);
    const own = await process.dataKeys.obtain(account);
    await process.dataKeys.eraseAll(account);
    assert.equal(await process.dataKeys.find(account, own.id), undefined);
    assert.notEqual((await process.dataKeys.obtain(account)).id, own.id);
  });

  it('is not remembered by another process for longer than its time, whatever it was used for last', async () => {
    const lifetime = TIMINGS.data_key_lifetime_ms;
    const account = newId('account');
    const began = performance.now();
    let passed = 0;
    mockMonotonic(() => began + passed);
    const at = (ms: number) => {
      passed = ms;
    };
    const { id } = await other.dataKeys.obtain(account, 'ada');
    assert.ok(await process.dataKeys.find(account, id));
    at(lifetime / 2);
    await process.dataKeys.obtain(account, 'ada');
    await other.dataKeys.erase(account, id);
    // By now it is remembered only for what is sealed.
    at(lifetime + 1);
    await process.dataKeys.obtain(account, 'ada');
    at(1.5 * lifetime + 1);
    assert.equal(await process.dataKeys.find(account, id), undefined);
    assert.notEqual((await process.dataKeys.obtain(account, 'ada')).id, id);
  });
});
