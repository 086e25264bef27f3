import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import mongoose, { type Connection } from 'mongoose';
import { compareLog, type LogCounts } from '../../../src/bin/records/compare-log.js';
import { compareVersions } from '../../../src/bin/records/compare-versions.js';
import type { Difference } from '../../../src/bin/records/difference.js';
import { createChangeAppender } from '../../../src/bin/service/log/change-appender.js';
import { createSegmentAppender } from '../../../src/bin/service/log/segment-appender.js';
import { createLogSigners } from '../../../src/bin/service/log/signers.js';
import type { Change } from '../../../src/domain/change/change.js';
import { verifyCertificate } from '../../../src/domain/log/certificate.js';
import type { ApiClient } from '../../support/api-client.js';
import { changesOf, newestChange, send } from '../../support/parts/changes.js';
import { recorded, runRecords } from '../../support/parts/records.js';
import { purchases } from '../../support/parts/replays.js';
import { type Receiver, reply, startReceiver } from '../../support/receiver.js';
import { type SharedSystem, sharedSystem, startSystem, type TestSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

/** How an act ended is found out after 60 s, in a fiftieth of which here. */
const SCALE = { HOOKLINE_TEST_TIME_SCALE: '0.02' };

// A system of its own: all of its log is compared. A process that is killed takes 2 s of processor to start.
describe('how an act ended', () => {
  let system: TestSystem;
  let receiver: Receiver;
  let client: ApiClient;
  let connection: Connection;

  const changes = () => connection.collection<{ _id: string } & Record<string, unknown>>('changes');
  const ended = (resource: string, outcome: string) =>
    until(
      () => newestChange(client, resource),
      (change) => change.outcome === outcome,
    );
  const act = async (id: string, action: string, by = client, { database }: SharedSystem = system) => {
    const { id: name, ended: end } = await database.changes.announce(
      { actor: { type: 'api_key', id: by.keyId } },
      { account_id: by.accountId, resource: `delivery:${id}`, action: 'cancelled' },
    );
    assert.equal(action, 'cancel');
    return { name, end };
  };
  const certificateOf = (id: string) =>
    until(
      async () => {
        await runRecords(system);
        return client.request('GET', `/v18.0/changes/${id}/certificate`);
      },
      ({ status }) => status === 200,
    );
  const integrityOf = async (id: string) => (await send(client, 'GET', `/changes/${id}/integrity`)).json;
  const differences = async () => {
    const keys = await createLogSigners(system.settings, system.database).known();
    const counts = {} as LogCounts;
    const found: Difference[] = [];
    const loggedBefore = new Date(Date.now() + 60_000);
    for await (const one of compareLog(
      { database: system.database, keys, memory: {}, keptDays: 1, loggedBefore },
      counts,
    ))
      found.push(one);
    return found;
  };

  before(async () => {
    system = await startSystem(SCALE);
    connection = await mongoose.createConnection(system.environment['MONGODB_URI'] ?? '').asPromise();
    receiver = await startReceiver({ handler: reply(500) });
    client = await system.account();
    await client.register(receiver.url, { retry_schedule: ['1h'] });
  });
  after(async () => {
    await connection.close();
    await receiver.close();
    await system.stop();
  });

  it('is found out if the process died between, before it or after, and stands in the signed log [world]', async () => {
    const ids = await purchases(client, 4);
    await Promise.all(ids.map((id) => client.deliveryUntil(id, ({ status }) => status === 'retrying')));
    const [cancelled = '', open = '', resent = '', closed = ''] = ids;
    for (const id of [resent, closed]) await send(client, 'POST', `/deliveries/${id}/cancel`);
    const acts = [
      `cancel:done:${cancelled}`,
      `cancel:begun:${open}`,
      `resend:done:${resent}`,
      `resend:begun:${closed}`,
    ];
    const program = ['--import', 'tsx', 'test/support/programs/die-while-acting.ts'];
    const child = spawn(process.execPath, [...program, client.accountId, client.keyId, ...acts], {
      env: { ...process.env, ...system.environment },
      stdio: 'inherit',
    });
    assert.equal((await once(child, 'close'))[1], 'SIGKILL');

    assert.equal((await ended(`delivery:${cancelled}`, 'done')).action, 'cancelled');
    const undone = await ended(`delivery:${open}`, 'refused');
    await ended(`delivery:${resent}`, 'done');
    await ended(`delivery:${closed}`, 'refused');
    await until(
      async () =>
        (await Promise.all(ids.map((id) => client.delivery(id)))).map(({ status }) => status).join(),
      (statuses) => statuses === 'cancelled,retrying,retrying,cancelled',
    );
    await recorded(system, client, [cancelled, closed]);
    const { text } = await certificateOf(undone.id);
    assert.equal(verifyCertificate(text).record.outcome, 'refused');
    assert.equal((await integrityOf(undone.id)).verdict, 'unaltered');
    assert.deepEqual(await differences(), []);
  });

  it('is recorded again if it was found undone and done after all', async () => {
    const [id = ''] = await purchases(client, 1);
    const { end } = await act(id, 'cancel');
    await ended(`delivery:${id}`, 'refused');
    await end('done');
    const all = await changesOf(client, `delivery:${id}`);
    assert.deepEqual(
      all.map(({ outcome, actor }) => [outcome, actor.id]),
      [
        ['done', client.keyId],
        ['refused', client.keyId],
      ],
    );
  });

  it('is asked for, and unknown meanwhile', async () => {
    // Where it is found out after a minute, and not while this test looks.
    const patient = await sharedSystem();
    const client = await patient.account();
    await client.register(receiver.url, { retry_schedule: ['1h'] });
    const [id = ''] = await purchases(client, 1);
    await client.deliveryUntil(id, ({ status }) => status === 'retrying');
    const { end } = await act(id, 'cancel', client, patient);
    const [found] = await changesOf(client, `delivery:${id}`);
    assert.equal(found?.outcome, 'unknown');
    const ids = async (outcome: string): Promise<string[]> =>
      (await send(client, 'GET', `/changes?resource=delivery:${id}&outcome=${outcome}`)).json.data.map(
        (change: Change) => change.id,
      );
    assert.deepEqual(await ids('unknown'), [found?.id]);
    await end('refused');
    assert.deepEqual([await ids('unknown'), await ids('refused')], [[], [found?.id]]);
  });

  describe('and what was changed', () => {
    /** A change that the log does not have. */
    const change = async (): Promise<Change> => {
      const { id } = await client.register(receiver.url);
      return newestChange(client, `endpoint:${id}`);
    };

    it('is not taken by the log if somebody altered it before, and is named', async () => {
      const { id } = await change();
      const as = await changes().findOne({ _id: id });
      await changes().updateOne({ _id: id }, { $set: { actor: 'key_of_somebody_else' } });
      await runRecords(system);
      assert.equal((await changes().findOne({ _id: id }))?.['in_log'], false);
      assert.equal((await integrityOf(id)).verdict, 'altered');
      assert.deepEqual(await differences(), [{ id, what: 'is not what was written' }]);
      // Without the key, there is no tag for it; and one that is pending gets none.
      await changes().updateOne({ _id: id }, { $set: { tag: null, outcome: 'pending' } });
      await runRecords(system);
      assert.deepEqual(await differences(), [{ id, what: 'has no tag' }]);
      await changes().replaceOne({ _id: id }, as ?? {});
      assert.equal((await certificateOf(id)).status, 200);
      assert.deepEqual(await differences(), []);
    });

    it('gets into the log though somebody writes that it is there, or takes that away', async () => {
      const { id } = await change();
      const hidden = { $set: { in_log: true, leaf_index: 0 } };
      await changes().updateOne({ _id: id }, hidden);
      assert.equal((await differences()).length, 1);
      const { json } = await certificateOf(id);
      assert.equal(json.record.change_id, id);
      await changes().updateOne({ _id: id }, { $unset: { in_log: 1, leaf_index: 1 } });
      assert.match((await differences())[0]?.what ?? '', /^was made at .*, and is not in the log yet$/);
      assert.equal((await certificateOf(id)).json.record.change_id, id);
      assert.deepEqual(await differences(), []);
    });

    it('leaves a gap if somebody removes it, which the change after it and the resource show', async () => {
      const { id: endpoint } = await client.register(receiver.url);
      const change = async (seen: string) => {
        const { status } = await client.request('PATCH', `/v18.0/endpoints/${endpoint}`, {
          body: { metadata: { seen } },
        });
        assert.equal(status, 200);
        return newestChange(client, `endpoint:${endpoint}`);
      };
      const gaps = async () => {
        const found: Difference[] = [];
        const period = { from: new Date(0), to: new Date(Date.now() + 60_000) };
        for await (const one of compareVersions(system.database.changes.audit, period)) found.push(one);
        return found.map(({ id, what }) => `${id} ${what}`);
      };
      const gone = await change('first');
      assert.deepEqual(await gaps(), []);
      await changes().deleteOne({ _id: gone.id });
      assert.deepEqual(await gaps(), [
        `endpoint:${endpoint} has a version of ${gone.at}, of which there is no change`,
      ]);
      const next = await change('second');
      assert.deepEqual(await gaps(), [
        `${next.id} follows the version of endpoint:${endpoint} of ${gone.at}, of which there is no change`,
      ]);
      const told: string[] = [];
      const watch = { refused: async (error: Error) => void told.push(error.message) };
      const segments = createSegmentAppender(system.database, watch);
      const appendSome = createChangeAppender(system.database, segments, watch);
      while ((await appendSome()) > 0);
      assert.equal(told.filter((text) => text.includes(next.id)).length, 1);
      assert.match(told.join(), /follows a version of endpoint:\S+ of which there is no change/);
    });
  });
});
