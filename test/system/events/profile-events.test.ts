import assert from 'node:assert/strict';
import mongoose from 'mongoose';
import { parseSecretKeys, SecretBox } from '../../../src/domain/access/secret-box.js';
import { OPERATOR } from '../../../src/domain/change/change.js';
import { MAX_UNTOLD } from '../../../src/models/access/profiles.js';
import { connectDatabase } from '../../../src/models/database.js';
import type { ApiClient } from '../../support/api-client.js';
import { type Receiver, startReceiver } from '../../support/receiver.js';
import { type SharedSystem, sharedSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

const ADA = { username: 'ada', name: 'Ada Lovelace', followers_count: 1815 };

describe('events about changes of profiles', () => {
  let system: SharedSystem;
  let client: ApiClient;
  let receiver: Receiver;
  let profile: string;

  before(async () => {
    system = await sharedSystem();
  });
  beforeEach(async () => {
    receiver = await startReceiver();
    client = await system.account();
    profile = (await client.request('POST', '/v18.0/profiles', { body: ADA })).json.id;
  });
  afterEach(() => receiver.close());

  const watch = (more: object = {}) =>
    client.register(receiver.url, { event_kinds: ['profile.updated'], ...more });
  const replace = (body: object) =>
    client.request('PUT', `/v18.0/profiles/${profile}`, { body: { ...ADA, ...body } });
  const events = async () =>
    (await client.request('GET', '/v18.0/events?kind=profile.updated')).json.data as { id: string }[];
  const received = async (count: number) =>
    (await receiver.waitFor((all) => all.length >= count)).map(({ body }) => JSON.parse(String(body)));

  it('name the changed fields, and have their values where the endpoint asks for them', async () => {
    await watch();
    await client.register(receiver.url, { event_kinds: ['*'] });
    const changed = await replace({ followers_count: 1816, website: 'https://example.com/ada' });
    const names = {
      profile_id: profile,
      updated_at: changed.json.updated_at,
      changed_fields: ['website', 'followers_count'],
    };
    assert.deepEqual(await received(1), [names]);
    const again = await watch({ include_values: true });
    await replace({ followers_count: 1817, website: 'https://example.com/ada' });
    const bodies = await received(3);
    const values = { followers_count: { old: 1816, new: 1817 } };
    assert.deepEqual(
      bodies.flatMap(({ changes = [] }) => changes),
      [values],
    );
    assert.equal(bodies.length, 3, '* does not include the kind');

    await client.request('PATCH', `/v18.0/endpoints/${again.id}`, { body: { include_values: null } });
    await replace({ followers_count: 1818, website: 'https://example.com/ada' });
    assert.deepEqual(
      (await received(5)).slice(3).map(({ changes }) => changes),
      [undefined, undefined],
    );
  });

  it('go where the filter is met, which sees the values, and are none if nothing has changed', async () => {
    await watch({
      filter: {
        all: [
          { path: '/profile_id', equals: profile },
          { path: '/changes/followers_count/new', at_least: 2000 },
        ],
      },
    });
    await replace({});
    await replace({ followers_count: 1999 });
    await replace({ followers_count: 2000, name: 'Ada' });
    assert.deepEqual((await received(1))[0].changed_fields, ['name', 'followers_count']);
    assert.equal((await events()).length, 1);
    const posted = await client.request('POST', '/v18.0/events/profile.updated', { body: {} });
    assert.deepEqual([posted.status, posted.json.code], [404, 'unknown_event_kind']);
  });

  it('are erased with the payloads of their subject, which is the profile', async () => {
    await watch();
    await replace({ followers_count: 1816 });
    const [event] = await until(events, (found) => found.length === 1);
    const path = `/v18.0/events/${event?.id}`;
    assert.equal((await client.request('GET', path)).json.payload.changes.followers_count.new, 1816);
    await until(
      async () => (await client.request('GET', '/v18.0/deliveries')).json.data,
      (all) => all.length === 1 && all[0].closed_at !== undefined,
    );
    const erasing = await client.request('POST', '/v18.0/subjects/erase', { body: { subject: profile } });
    const { json: erased } = await until(
      () => client.request('GET', `/v18.0/erasures/${erasing.json.id}`),
      ({ json }) => json.erased_at !== undefined,
    );
    assert.deepEqual(erased.covered, { events: 1, deliveries: 1, open_deliveries: 0 });
    await until(
      () => client.request('GET', path),
      ({ json }) => json.payload_erased,
    );
  });

  describe('of a process that is killed right after the change', () => {
    let raw: mongoose.Connection;
    before(async () => {
      raw = await mongoose.createConnection(system.environment['MONGODB_URI'] ?? '').asPromise();
    });
    after(() => raw.close());
    const documents = () => raw.collection<{ _id: string; unrecorded?: object[] }>('profiles');

    /** Changes the profile as a process does that dies before it has told of it. */
    const changeAndDie = async (followers_count: number) => {
      const { MONGODB_URI = '', HOOKLINE_SECRET_KEYS = '' } = system.environment;
      const box = new SecretBox(parseSecretKeys(HOOKLINE_SECRET_KEYS));
      const doomed = await connectDatabase(MONGODB_URI, { box });
      try {
        const { profile: before, version } =
          (await doomed.profiles.find(profile)) ?? assert.fail('there is no profile');
        const { id: _, account_id: __, created_at: ___, updated_at: ____, ...input } = before;
        await doomed.profiles.replace(
          client.accountId,
          profile,
          { ...input, followers_count },
          version,
          OPERATOR,
        );
      } finally {
        await doomed.close();
      }
    };

    it('are made by another one, once', async () => {
      await watch({ include_values: true });
      await changeAndDie(1816);
      // As the sweep of every process does each minute: reading changes moves what is left of them.
      await Promise.all([1, 2, 3].map(() => client.request('GET', '/v18.0/changes')));
      const [body] = await received(1);
      assert.deepEqual(body.changes, { followers_count: { old: 1815, new: 1816 } });
      await client.request('GET', '/v18.0/changes');
      assert.equal((await events()).length, 1);
      assert.equal((await documents().findOne({ _id: profile }))?.['unrecorded'], undefined);
      await replace({ followers_count: 1817 });
      assert.equal((await received(2)).length, 2, 'the first was sent once');
    });

    it('go to no endpoint that was registered after the change', async () => {
      const early = await watch();
      await changeAndDie(1816);
      await watch();
      await client.request('GET', '/v18.0/changes');
      const [event] = await events();
      const { deliveries } = (await client.request('GET', `/v18.0/events/${event?.id}`)).json;
      assert.deepEqual(
        deliveries.map(({ endpoint_id }: { endpoint_id: string }) => endpoint_id),
        [early.id],
      );
    });

    it('are none once the profile is deleted', async () => {
      await watch();
      await changeAndDie(1816);
      const path = `/v18.0/profiles/${profile}`;
      const { headers } = await client.request('GET', path);
      const deleted = await client.request('DELETE', path, {
        headers: { 'if-match': headers.get('etag') ?? '' },
      });
      assert.equal(deleted.status, 204, deleted.text);
      await client.request('GET', '/v18.0/changes');
      assert.deepEqual(await events(), []);
    });

    for (const isKnown of [true, false])
      it(`are none once their subject was erased, ${isKnown ? 'with' : 'without'} an earlier event`, async () => {
        await watch({ include_values: true });
        if (isKnown) {
          await replace({ followers_count: 1900 });
          await received(1);
        }
        const before = (await events()).length;
        await changeAndDie(1816);
        const erasing = await client.request('POST', '/v18.0/subjects/erase', { body: { subject: profile } });
        assert.ok(isKnown ? erasing.status < 300 : erasing.status === 404, erasing.text);
        const changes = (await client.request('GET', `/v18.0/changes?resource=profile:${profile}`)).json.data;
        assert.equal(changes[0].after.followers_count, 1816, 'it is recorded');
        assert.equal((await events()).length, before);
        await replace({ followers_count: 2000 });
        await until(events, (all) => all.length === before + 1);
      });

    it('are bounded: a profile of which too much is to be told is not changed', async () => {
      await changeAndDie(1816);
      const [untold] = (await documents().findOne({ _id: profile }))?.['unrecorded'] ?? [];
      const $set = { unrecorded: Array<object>(MAX_UNTOLD).fill(untold ?? {}) };
      await documents().updateOne({ _id: profile }, { $set });
      const refused = await replace({ followers_count: 1817 });
      assert.deepEqual([refused.status, refused.json.code], [503, 'unavailable']);
      assert.match(refused.json.detail, /Nothing was changed/);
    });
  });
});
