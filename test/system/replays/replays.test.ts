import assert from 'node:assert/strict';
import { newId } from '../../../src/domain/basics/ids.js';
import { NO_PROGRESS } from '../../../src/domain/replay/replay.js';
import type { ReplayView } from '../../../src/temporal/read/replay/replay-reader.js';
import type { ApiClient } from '../../support/api-client.js';
import { readAll } from '../../support/parts/pages.js';
import { forget } from '../../support/parts/records.js';
import {
  dryRun,
  listed,
  purchases,
  readReplay,
  replay,
  replayAsPreviewed,
  replayOver,
} from '../../support/parts/replays.js';
import { type Receiver, reply, startReceiver } from '../../support/receiver.js';
import { type SharedSystem, sharedSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

/** Posted side by side, so that many of them are in groups. */
const MANY = 15;
const FEW = 8;

describe('a replay', () => {
  // Of many deliveries to a failing endpoint most wait, and are attempted one by one as probes.
  let system: SharedSystem;
  let receiver: Receiver;
  let client: ApiClient;
  let endpointId: string;

  before(async () => {
    system = await sharedSystem({ HOOKLINE_RETRY_SCHEDULE: '20ms', HOOKLINE_PROBE_INTERVAL: '100ms' });
  });
  beforeEach(async () => {
    receiver = await startReceiver();
    client = await system.account();
    endpointId = (await client.register(receiver.url)).id;
  });
  afterEach(() => receiver.close());

  const set = async (change: object) => {
    const { status, text } = await client.request('PATCH', `/v18.0/endpoints/${endpointId}`, {
      body: change,
      headers: { 'content-type': 'application/merge-patch+json' },
    });
    assert.equal(status, 200, text);
  };
  const timesSent = () => {
    const times = new Map<string, number>();
    for (const { headers } of receiver.received) {
      const id = String(headers['webhook-id']);
      times.set(id, (times.get(id) ?? 0) + 1);
    }
    return times;
  };

  it('is on one page of the list, also if others have ended in the same millisecond', async () => {
    const { accountId: account_id } = client;
    const { replays } = system.database;
    const at = new Date().toISOString();
    const definition = { action: 'resend', filter: {}, rate: 1, by: client.keyId, created_at: at };
    const input = { filter: { created_after: at, created_before: at }, from: {} };
    const end = { progress: { ...NO_PROGRESS, state: 'finished' }, closed_at: at, run_id: 'run_1' } as const;
    const ids = [1, 2, 3].map(() => newId('replay'));
    for (const id of ids) {
      await replays.add({ id, account_id, definition, input });
      await replays.end(account_id, id, end);
    }
    const listed = await readAll(client, '/v18.0/replays?limit=1');
    assert.deepEqual(
      listed.map(({ id }) => id),
      ids.sort().reverse(),
    );
  });

  it('sends again what failed, each once, and every delivery says by which replay', async () => {
    const delivered = await purchases(client, 3);
    await listed(client, 'status=delivered', 3);
    receiver.handle(reply(500));
    // One attempt each, and fewer than let deliveries wait for the endpoint.
    await set({ retry_schedule: [] });
    const ids = await purchases(client, FEW);
    await listed(client, 'status=exhausted', FEW);
    receiver.handle(reply(200));
    const before = receiver.received.length;

    const done = await replayAsPreviewed(client, {
      mode: 'failed',
      filter: { endpoint_id: endpointId },
      reason: 'it was down',
    });
    assert.equal(done.found, FEW);
    assert.ok(done.sample.every((id) => ids.includes(id)));
    await listed(client, 'status=delivered', FEW + delivered.length);
    const again = receiver.received.slice(before).map(({ headers }) => headers['webhook-id']);
    assert.equal(again.length, FEW);
    assert.equal(new Set(again).size, FEW);
    for (const id of ids) {
      const { interventions, earlier_runs } = await client.delivery(id);
      assert.deepEqual(
        interventions?.map(({ action, by, replay }) => ({ action, by, replay })),
        [{ action: 'resend', by: client.keyId, replay: done.id }],
      );
      assert.equal(earlier_runs?.[0]?.status, 'exhausted');
    }
    const [first = ''] = ids;
    const timeline = await client.request('GET', `/v18.0/deliveries/${first}/timeline`);
    assert.ok(
      timeline.json.data.some((one: { replay?: string }) => one.replay === done.id),
      timeline.text,
    );
    const { json } = await client.request('GET', `/v18.0/changes?resource=delivery:${first}`);
    assert.deepEqual(
      json.data.map(({ action, replay, reason, actor }: Record<string, unknown>) => ({
        action,
        replay,
        reason,
        actor,
      })),
      [
        {
          action: 'resent',
          replay: done.id,
          reason: 'it was down',
          actor: { type: 'api_key', id: client.keyId, name: 'test' },
        },
      ],
    );
    // What has been sent again has not failed any more.
    assert.equal((await replayAsPreviewed(client, { mode: 'failed' })).found, 0);
  });

  it('is listed and read when Temporal has removed it, each page of the list once', async () => {
    await purchases(client, 1);
    await listed(client, 'status=delivered', 1);
    const made: ReplayView[] = [];
    for (let count = 0; count < 3; count += 1)
      made.push(await replayOver(client, (await replay(client, { mode: 'all' })).id));
    await forget(system, made);
    const ids = made.map(({ id }) => id).reverse();
    const rows = await readAll<ReplayView>(client, '/v18.0/replays?limit=1');
    assert.deepEqual(
      rows.map(({ id, state }) => [id, state]),
      ids.map((id) => [id, 'finished']),
    );
    assert.deepEqual(await readReplay(client, ids[0] ?? ''), rows[0]);
    const other = await system.account();
    assert.deepEqual(await readAll(other, '/v18.0/replays'), []);
    assert.equal((await other.request('GET', `/v18.0/replays/${ids[0]}`)).status, 404);
  });

  it('is narrowed down by every filter of the list of deliveries [world]', async () => {
    receiver.handle((request, response, body) => {
      const status = String(body).includes('order-1"') ? 503 : 500;
      return reply(status)(request, response, body);
    });
    await purchases(client, 4);
    await client.register(`${receiver.url}/other`);
    const [other = ''] = await purchases(client, 1);
    const rows = await listed(client, 'status=exhausted', 6);
    const [anyId = ''] = rows;
    const { event_id, created_at } = await client.delivery(anyId);
    const { endpoint_id } = await client.delivery(other);
    const time = Date.parse(created_at);
    const found = async (filter: object) => (await dryRun(client, { filter })).found;
    const list = async (query: string) =>
      (await readAll(client, `/v18.0/deliveries?status=exhausted&limit=100&${query}`)).length;
    for (const [name, value] of Object.entries({
      event_id,
      endpoint_id,
      event_kind: 'order.shipped',
      error_code: 'timeout',
      key: 'order_id:order-2',
      created_after: created_at,
      created_before: new Date(time + 1).toISOString(),
    }))
      assert.equal(await found({ [name]: value }), await list(`${name}=${encodeURIComponent(value)}`), name);
    assert.equal(await found({ status_code: 503 }), await list('status_code=503'));
    assert.ok((await found({ status_code: 503 })) > 0);
    assert.equal(await found({ status: ['expired'] }), 0);
  });

  it('sends everything again [world]', async () => {
    const ids = await purchases(client, MANY);
    await listed(client, 'status=delivered', MANY);
    const done = await replayAsPreviewed(client, { mode: 'all', filter: { endpoint_id: endpointId } });
    assert.equal(done.found, ids.length);
    await receiver.waitFor((all) => all.length === 2 * MANY);
    assert.deepEqual([...new Set(timesSent().values())], [2]);
  });

  it('cancels, resumes and retries open deliveries, in groups and alone [world]', async () => {
    await set({ status: 'paused' });
    const ids = await purchases(client, MANY);
    await listed(client, 'status=parked', MANY);
    const [first = '', second = ''] = ids;
    for (const id of [first, second]) await client.request('POST', `/v18.0/deliveries/${id}/pause`);

    // A paused delivery accepts no retry. Lists know of the pauses a moment later.
    await until(
      () => dryRun(client, { action: 'retry' }),
      ({ found }) => found === MANY - 2,
    );
    const retried = await replayAsPreviewed(client, { action: 'retry' });
    assert.equal(retried.found, MANY - 2);
    const resumed = await replayAsPreviewed(client, { action: 'resume' });
    assert.equal(resumed.found, 2);
    await listed(client, 'status=parked', MANY);
    const acts = (await client.delivery(first)).interventions?.map(({ action, replay }) => ({
      action,
      replay,
    }));
    assert.deepEqual(acts, [
      { action: 'pause', replay: undefined },
      { action: 'resume', replay: resumed.id },
    ]);
    const cancelled = await replayAsPreviewed(client, {
      action: 'cancel',
      filter: { endpoint_id: endpointId },
    });
    assert.equal(cancelled.found, MANY);
    assert.equal((await listed(client, 'status=cancelled', MANY)).length, MANY);
    assert.equal(receiver.received.length, 0);
  });

  it('is paused, resumed and cancelled, and says by whom [world]', async () => {
    await purchases(client, MANY);
    await listed(client, 'status=delivered', MANY);
    const { id } = await replay(client, { mode: 'all', rate: 1 });
    await until(
      () => readReplay(client, id),
      ({ done }) => done > 0,
    );
    const act = async (action: string) =>
      client.request('POST', `/v18.0/replays/${id}/${action}`, { body: { reason: 'why not' } });
    const paused = await act('pause');
    assert.equal(paused.json.state, 'paused', paused.text);
    assert.equal((await act('pause')).json.code, 'replay_state_conflict');
    const standing = await readReplay(client, id);
    assert.equal(standing.state, 'paused');
    assert.equal((await act('resume')).json.state, 'running');
    await until(
      () => readReplay(client, id),
      ({ done }) => done > standing.done,
    );
    assert.equal((await act('cancel')).json.state, 'cancelled');
    const over = await replayOver(client, id);
    assert.equal(over.state, 'cancelled');
    assert.ok(over.done < MANY, `${over.done} done`);
    assert.deepEqual(
      over.interventions?.map(({ action, by }) => `${action} ${by}`),
      ['pause', 'resume', 'cancel'].map((action) => `${action} ${client.keyId}`),
    );
    assert.equal((await act('resume')).json.code, 'replay_state_conflict');
    const { json } = await client.request('GET', `/v18.0/changes?resource=replay:${id}`);
    assert.deepEqual(
      json.data
        .map(({ action, reason, outcome }: Record<string, string>) => `${action} ${reason}: ${outcome}`)
        .reverse(),
      [
        'created undefined: done',
        'paused why not: done',
        'paused why not: refused',
        'resumed why not: done',
        'cancelled why not: done',
        'resumed why not: refused',
      ],
    );
    const list = await until(
      async () => (await client.request('GET', '/v18.0/replays')).json.data,
      (rows) => rows.length === 1 && rows[0].state === 'cancelled',
    );
    assert.deepEqual(list[0], over);
  });
});
