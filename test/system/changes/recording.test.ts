import assert from 'node:assert/strict';
import mongoose from 'mongoose';
import { registerDirectly } from '../../../bench/support/endpoints.js';
import { sweepChanges } from '../../../src/bin/service/change-sweep.js';
import { parseSecretKeys, SecretBox } from '../../../src/domain/access/secret-box.js';
import { newId } from '../../../src/domain/basics/ids.js';
import { OPERATOR } from '../../../src/domain/change/change.js';
import { connectDatabase, type Database } from '../../../src/models/database.js';
import type { StoredEndpoint } from '../../../src/models/endpoint/endpoint-document.js';
import { promised } from '../../support/promised.js';
import { testEnvironment } from '../../support/system.js';
import { until } from '../../support/until.js';

const INPUT = {
  target_url: 'https://subscriber.example/',
  event_kinds: ['purchase'],
  description: '',
  metadata: {},
  headers: {},
  verification_method: 'challenge' as const,
};
const LOGGER = { warn: () => assert.fail('the sweep failed') } as never;

describe('recording a change', () => {
  let uri: string;
  let keys: string;
  let database: Database;
  let raw: mongoose.Connection;
  let accountId: string;

  before(async () => {
    const environment = await testEnvironment();
    uri = environment['MONGODB_URI'] ?? '';
    keys = environment['HOOKLINE_SECRET_KEYS'] ?? '';
    database = await connectDatabase(uri, { box: new SecretBox(parseSecretKeys(keys)) });
    await database.createIndexes();
    raw = await mongoose.createConnection(uri).asPromise();
  });
  beforeEach(() => {
    accountId = newId('account');
  });
  after(async () => {
    await raw.close();
    await database.close();
  });

  const stored = (collection: string) => raw.collection(collection).find({ account_id: accountId }).toArray();
  const recorded = async () =>
    (await database.changes.list(accountId, {}, 10)).map(({ action }) => action).reverse();
  const register = async () => {
    await registerDirectly(database.endpoints, accountId, ['https://subscriber.example/']);
    const [endpoint] = await database.endpoints.all(accountId);
    assert.ok(endpoint);
    return endpoint;
  };

  /**
   * Does with an endpoint what a process does that dies while the change is being recorded: `before` it is in the
   * collection of changes, or `after` that, before it is taken out of the endpoint's document.
   */
  const dieWhileRecording = async (
    act: string,
    point: 'before' | 'after',
    endpoint: StoredEndpoint | undefined,
  ) => {
    const doomed = await connectDatabase(uri, { box: new SecretBox(parseSecretKeys(keys)) });
    const { changes, endpoints } = doomed;
    const keep = changes.keep.bind(changes);
    const { promise: died, resolve: die } = promised();
    changes.keep = async (records) => {
      if (point === 'after') await keep(records);
      die();
      return new Promise(() => {});
    };
    const active = { ...INPUT, status: 'active', status_when_verified: 'active' } as const;
    const paused = { ...INPUT, status: 'paused', status_when_verified: 'paused' } as const;
    if (act === 'create') await endpoints.create(accountId, active, OPERATOR);
    else if (act === 'delete') await endpoints.delete(accountId, endpoint?.id ?? '', OPERATOR);
    else await endpoints.replace(endpoint ?? assert.fail(), paused, OPERATOR);
    await died;
    await doomed.close();
  };

  for (const [act, actions] of [
    ['create', ['created']],
    ['change', ['created', 'paused']],
    ['delete', ['created', 'deleted']],
  ] as const) {
    for (const point of ['before', 'after'] as const) {
      it(`survives a crash ${point} the record of a ${act} is moved, and is not there twice`, async () => {
        const endpoint = act === 'create' ? undefined : await register();
        await dieWhileRecording(act, point, endpoint);

        const known = await stored('changes');
        assert.equal(known.length, actions.length - (point === 'before' ? 1 : 0));
        const [left] = await stored('endpoints');
        assert.equal(left?.['unrecorded'].length, 1, 'the crash left it in the document');
        const fresh = await database.endpoints.getFresh(accountId, String(left?._id));
        assert.equal(fresh?.status, { create: 'active', change: 'paused', delete: undefined }[act]);

        assert.deepEqual(await recorded(), actions);
        assert.deepEqual(await recorded(), actions);
        const [document] = await stored('endpoints');
        assert.equal(document?.['unrecorded'], undefined);
        assert.equal(document === undefined, act === 'delete');
      });
    }
  }

  it('is made up for by the sweep of any process, without anybody asking', async () => {
    const { id } = await register();
    const { changes } = database;
    const { keep } = changes;
    changes.keep = () => Promise.reject(new Error('MongoDB does not respond'));
    await database.endpoints.delete(accountId, id, OPERATOR);
    changes.keep = keep;
    assert.equal((await stored('changes')).length, 1);

    const stop = sweepChanges(changes, LOGGER);
    await until(
      () => stored('endpoints'),
      (all) => all.length === 0,
    );
    stop();
    assert.equal((await stored('changes')).length, 2);
  });

  it('does not hold up who makes the change, nor others who read theirs', async () => {
    const { changes, endpoints } = database;
    const { keep } = changes;
    const { id } = await register();
    try {
      changes.keep = () => new Promise(() => {});
      assert.equal(await endpoints.delete(accountId, id, OPERATOR), true);
      changes.keep = (records) =>
        records.some((record) => record.account_id === accountId)
          ? Promise.reject(new Error('it cannot be stored'))
          : keep.call(changes, records);
      const other = newId('account');
      await registerDirectly(endpoints, other, ['https://subscriber.example/']);
      assert.equal((await changes.list(other, {}, 10)).length, 1);
      await assert.rejects(
        changes.list(accountId, {}, 10),
        /it cannot be stored/,
        'rather than an answer that lacks it',
      );
    } finally {
      changes.keep = keep;
    }
    assert.deepEqual(await recorded(), ['created', 'deleted']);
  });

  it('is made up for by who reads the changes of its account, and not of another one, together', async () => {
    const { changes, endpoints } = database;
    const { keep } = changes;
    const { id } = await register();
    const kept: string[][] = [];
    try {
      changes.keep = () => Promise.reject(new Error('MongoDB does not respond'));
      for (const status of ['paused', 'active'] as const) {
        const before = (await endpoints.getFresh(accountId, id)) ?? assert.fail();
        await endpoints.replace(before, { ...INPUT, status, status_when_verified: status }, OPERATOR);
      }
      changes.keep = async (records) => {
        kept.push(records.map(({ account_id }) => account_id));
        return keep.call(changes, records);
      };
      await changes.list(newId('account'), {}, 10);
      assert.deepEqual(kept, []);
      assert.equal((await recorded()).length, 3);
      assert.deepEqual(kept, [[accountId, accountId]]);
    } finally {
      changes.keep = keep;
    }
  });

  it('hides what is deleted at once, and lets its name be used again', async () => {
    const { changes, eventKinds } = database;
    const name = 'order.shipped';
    const create = () => eventKinds.create(accountId, name, '', {}, OPERATOR);
    assert.ok(await create());
    const { keep } = changes;
    changes.keep = () => Promise.reject(new Error('MongoDB does not respond'));
    assert.equal(await eventKinds.delete(accountId, name, OPERATOR), true);
    changes.keep = keep;
    assert.equal((await stored('event_kinds')).length, 1, 'its document is still there');
    assert.equal(await eventKinds.get(accountId, name), undefined);
    assert.deepEqual(await eventKinds.all(accountId), []);
    assert.equal(await eventKinds.delete(accountId, name, OPERATOR), false);

    assert.ok(await create());
    assert.equal(await create(), undefined, 'one of that name is there');
    assert.deepEqual(await recorded(), ['created', 'deleted', 'created']);
  });

  it('gives 12 changes at the same time a version each, at different times [world]', async () => {
    const { id } = await register();
    const tokens = Array.from({ length: 12 }, (_, index) => `reason ${index}`);
    const { endpoints } = database;
    await Promise.all(
      tokens.map(async (reason) => {
        for (;;) {
          const before = await endpoints.getFresh(accountId, id);
          assert.ok(before);
          const input = { ...before, ...endpoints.secretsOf(before), description: reason };
          const { target_url, event_kinds, description, metadata, headers, verification_method } = input;
          const settings = { target_url, event_kinds, description, metadata, headers, verification_method };
          const status = { status: 'active', status_when_verified: 'active' } as const;
          if (await endpoints.replace(before, { ...settings, ...status }, OPERATOR)) return;
        }
      }),
    );
    const all = await database.changes.list(accountId, {}, 100);
    assert.deepEqual(
      all.map(({ version }) => version),
      Array.from({ length: 13 }, (_, index) => 13 - index),
    );
    assert.equal(new Set(all.map(({ at }) => at)).size, 13);
    assert.deepEqual(all.map(({ after }) => after?.['description']).sort(), ['', ...tokens].sort());
  });

  it('is kept for as many days as the operator says', async () => {
    const other = await connectDatabase(uri, { changesDays: 3 });
    try {
      await other.apiKeys.create(accountId, 'key', [], OPERATOR);
      const [change] = await stored('changes');
      assert.equal((change?.['expires_at'] - change?.['at']) / 3_600_000, 3 * 24);
    } finally {
      await other.close();
    }
    const indexes = await raw.collection('changes').indexes();
    assert.ok(indexes.some(({ key, expireAfterSeconds }) => key['expires_at'] && expireAfterSeconds === 0));
  });
});
