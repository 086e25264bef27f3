import assert from 'node:assert/strict';
import { registerDirectly } from '../../../bench/support/endpoints.js';
import { parseSecretKeys, SecretBox } from '../../../src/domain/access/secret-box.js';
import { newId } from '../../../src/domain/basics/ids.js';
import { OPERATOR } from '../../../src/domain/change/change.js';
import type { FailingMark } from '../../../src/domain/endpoint/breaker/circuit-breaker.js';
import { connectDatabase, type Database } from '../../../src/models/database.js';
import { testEnvironment } from '../../support/system.js';

const FAILING = { since: '2026-01-31T12:00:00.000Z' };

describe('endpoints that a process has read', () => {
  let database: Database;
  let other: Database;
  let accountId: string;
  beforeEach(async () => {
    const { MONGODB_URI: uri = '', HOOKLINE_SECRET_KEYS: keys = '' } = await testEnvironment();
    const box = new SecretBox(parseSecretKeys(keys));
    database = await connectDatabase(uri, { box });
    other = await connectDatabase(uri, { box });
    accountId = newId('account');
    await registerDirectly(database.endpoints, accountId, ['https://a.example/', 'https://b.example/']);
  });
  afterEach(async () => {
    await database.close();
    await other.close();
  });

  it('are changed in what it remembers, in the list and one by one', async () => {
    const { endpoints } = database;
    const [first, second] = await endpoints.all(accountId);
    assert.ok(first && second);
    await endpoints.setFailing(accountId, first.id, FAILING);
    await endpoints.disable(accountId, second.id, 'enough', 'a test', OPERATOR);
    const read = [
      await endpoints.all(accountId),
      [await endpoints.get(accountId, first.id), await endpoints.get(accountId, second.id)],
    ];
    for (const rows of read) {
      assert.deepEqual(
        rows.map((endpoint) => [endpoint?.id, endpoint?.failing, endpoint?.status]),
        [
          [first.id, FAILING, 'active'],
          [second.id, undefined, 'disabled'],
        ],
      );
    }
  });

  it('keep a circuit breaker that is open when their incident begins with few failures, until it ends', async () => {
    const { endpoints } = database;
    const [first] = await endpoints.all(accountId);
    assert.ok(first);
    let removed: FailingMark | undefined;
    const mark = async (failing: FailingMark | null) => {
      removed = await endpoints.setFailing(accountId, first.id, failing);
      return (await endpoints.getFresh(accountId, first.id))?.failing;
    };
    const open = { ...FAILING, backoff_until: '2026-01-31T12:00:05.000Z' };
    assert.deepEqual(await mark(open), open);
    assert.deepEqual(await mark(FAILING), open);
    assert.equal(await mark(null), undefined);
    assert.deepEqual(removed, open, 'whoever removes it learns that deliveries had to wait');
    assert.equal((await endpoints.get(accountId, first.id))?.failing, undefined);
    assert.equal(await mark(null), undefined);
    assert.equal(removed, undefined);
    assert.deepEqual(await mark(FAILING), FAILING);
    assert.deepEqual(await mark(open), open);
  });

  it('are forgotten if one is registered or deleted', async () => {
    const { endpoints } = database;
    const [first] = await endpoints.all(accountId);
    assert.ok(first);
    await endpoints.delete(accountId, first.id, OPERATOR);
    await registerDirectly(endpoints, accountId, ['https://c.example/']);
    assert.deepEqual(
      (await endpoints.all(accountId)).map(({ target_url }) => target_url),
      ['https://b.example/', 'https://c.example/'],
    );
    assert.equal(await endpoints.get(accountId, first.id), undefined);
  });

  it('are separate for each account, and read again on request', async () => {
    const { endpoints } = database;
    const [first] = await endpoints.all(accountId);
    assert.ok(first);
    assert.equal(await endpoints.get(newId('account'), first.id), undefined);
    assert.equal(await endpoints.getFresh(newId('account'), first.id), undefined);
    await other.endpoints.setFailing(accountId, first.id, FAILING);
    assert.deepEqual((await endpoints.getFresh(accountId, first.id))?.failing, FAILING);
  });
});
