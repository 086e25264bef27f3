import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import mongoose from 'mongoose';
import { idTime } from '../../../src/domain/basics/id-time.js';
import type { ApiClient } from '../../support/api-client.js';
import { dump, restore } from '../../support/outside/dump.js';
import { forget } from '../../support/parts/records.js';
import { runHere } from '../../support/programs/command.js';
import { type Receiver, startReceiver } from '../../support/receiver.js';
import { SHORT_WAITS, startSystem, type TestSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

/** A system of its own: all of its database is restored. */
describe('hookline rebuild', () => {
  let system: TestSystem;
  let receiver: Receiver;
  let folder: string;
  /** Each has one endpoint. */
  const clients = new Map<string, ApiClient>();
  const ids: Record<'lost' | 'running' | 'delivered' | 'inFlight' | 'unbegun', string> = {
    ...{ lost: '', running: '', delivered: '', inFlight: '', unbegun: '' },
  };
  let unknown: string;
  const held: ServerResponse[] = [];
  const isGood = new Set<string>();

  const requestsTo = (path: string) => receiver.received.filter((request) => request.path === path).length;
  const rebuild = (...args: string[]) => runHere('rebuild', system.environment, args);
  const clientOf = (name: keyof typeof ids) => clients.get(name) ?? assert.fail();
  const shown = (name: keyof typeof ids) => clientOf(name).delivery(ids[name]);
  const shownUntil = (name: keyof typeof ids, ...[condition]: [Parameters<ApiClient['deliveryUntil']>[1]]) =>
    clientOf(name).deliveryUntil(ids[name], condition);
  const retry = async (name: keyof typeof ids) => {
    const { status } = await clientOf(name).request('POST', `/v18.0/deliveries/${ids[name]}/retry`);
    assert.ok(status < 300);
  };

  before(async () => {
    system = await startSystem({ ...SHORT_WAITS, HOOKLINE_ATTEMPT_TIMEOUT: '60s' });
    folder = await mkdtemp(join(tmpdir(), 'hookline-rebuild-'));
    receiver = await startReceiver({
      handler: (request, response) => {
        if (request.url === '/inFlight' && !isGood.has('/inFlight')) held.push(response);
        else response.writeHead(isGood.has(request.url ?? '') ? 200 : 500).end();
      },
    });
    const uri = system.environment['MONGODB_URI'] ?? '';
    isGood.add('/unbegun');
    for (const name of Object.keys(ids) as (keyof typeof ids)[]) {
      const client = await system.account();
      clients.set(name, client);
      await client.register(`${receiver.url}/${name}`);
      ids[name] = (await client.purchase()).deliveries[0]?.id ?? '';
      await shownUntil(
        name,
        ({ attempts, run_id }) => run_id !== '' && (name === 'inFlight' || attempts.length === 1),
      );
    }
    await dump(uri, folder);

    isGood.add('/delivered');
    await retry('delivered');
    isGood.add('/inFlight');
    for (const response of held) response.writeHead(200).end();
    for (const name of ['delivered', 'inFlight'] as const)
      await shownUntil(name, ({ status }) => status === 'delivered');
    unknown = (await clientOf('lost').purchase()).deliveries[0]?.id ?? '';
    await clientOf('lost').deliveryUntil(unknown, ({ status }) => status === 'retrying');

    const runs = await Promise.all((['lost', 'inFlight', 'unbegun'] as const).map(shown));
    await forget(system, runs);
    await restore(uri, folder);
    const connection = await mongoose.createConnection(uri).asPromise();
    await connection.collection<{ _id: string }>('deliveries').deleteOne({ _id: ids.unbegun });
    await connection.close();
    // Before that it is the affair of its process.
    const { starter_dead_ms } = system.settings.HOOKLINE_TEST_TIME_SCALE;
    await until(
      async () => Date.now() - idTime((await shown('unbegun')).event_id),
      (age) => age > starter_dead_ms,
    );
  });
  after(async () => {
    await system.stop();
    await receiver.close();
    await rm(folder, { recursive: true, force: true });
  });

  const SUMMARY = /Started: 3\. Closed by what Temporal knows: 1\. Left alone, because they run: 1\./;

  it('says what it would do', async () => {
    const said = await rebuild('--dry-run');
    assert.match(said, new RegExp(SUMMARY.source.replace('Started', 'Would be started')));
    assert.equal((await shown('delivered')).status, 'retrying');
    assert.equal(requestsTo('/unbegun'), 1);
  });

  it('starts what is open, closes what has ended since, and names what MongoDB does not know', async () => {
    const said = await rebuild();
    assert.match(said, SUMMARY);
    for (const id of [ids.lost, ids.inFlight, ids.unbegun]) assert.match(said, new RegExp(`${id}: started`));
    assert.match(said, new RegExp(`${ids.delivered}: closed, delivered`));
    assert.match(said, new RegExp(`${unknown}:\\S+: MongoDB has no event of it \\(running\\)`));
    assert.match(said, /^Executions whose events MongoDB does not have: 1\.$/m);
  });

  it('sends nothing again that Temporal says was delivered', async () => {
    const { status, reason, attempts } = await shown('delivered');
    assert.deepEqual([status, attempts.length, requestsTo('/delivered')], ['delivered', 1, 2]);
    assert.equal(reason, 'The endpoint responded with 2xx.');
    const { json } = await clientOf('delivered').request(
      'GET',
      `/v18.0/deliveries/${ids.delivered}/timeline`,
    );
    const end = json.data.find((item: { status?: string }) => item.status !== undefined);
    assert.match(end.text, /restored from an older copy.*: delivered\.$/);
  });

  it('goes on from what the row says', async () => {
    const before = await shownUntil('lost', ({ workflow_id }) => workflow_id !== '');
    assert.deepEqual([before.status, before.attempts.length], ['retrying', 1]);
    assert.ok(before.next_attempt_at);
    isGood.add('/lost');
    await retry('lost');
    const {
      attempts,
      earlier_runs,
      attempts: [first] = [],
    } = await shownUntil('lost', ({ status }) => status === 'delivered');
    assert.deepEqual(first, before.attempts[0]);
    assert.deepEqual([attempts.length, earlier_runs, requestsTo('/lost')], [2, undefined, 3]);
  });

  it('attempts again what was in flight, and begins what had not begun', async () => {
    const again = await shownUntil('inFlight', ({ status }) => status === 'delivered');
    assert.deepEqual([again.attempts.length, again.attempts[0]?.lost_tries], [1, 1]);
    assert.equal(requestsTo('/inFlight'), 2);
    const { attempts } = await shownUntil('unbegun', ({ status }) => status === 'delivered');
    assert.deepEqual([attempts.length, requestsTo('/unbegun')], [1, 2]);
  });

  it('does nothing twice', async () => {
    assert.match(await rebuild(), /Started: 0\. Closed by what Temporal knows: 0\. .* they run: 1\./);
    assert.equal((await shown('running')).attempts.length, 1);
  });
});
