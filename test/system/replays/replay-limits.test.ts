import assert from 'node:assert/strict';
import type { InputError } from '../../../src/domain/http/problem.js';
import {
  MAX_OPEN_REPLAYS,
  MAX_REPLAY_PERIOD_DAYS,
  MAX_REPLAY_RATE,
} from '../../../src/domain/replay/replay.js';
import { type ApiClient, apiClient } from '../../support/api-client.js';
import { dryRun, listed, purchases, replay, replayOver } from '../../support/parts/replays.js';
import { type Receiver, startReceiver } from '../../support/receiver.js';
import { type SharedSystem, sharedSystem, startSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

const DAY_MS = 24 * 3_600_000;
const DELIVERIES = 30;

describe('replays', () => {
  let system: SharedSystem;
  let receiver: Receiver;
  let client: ApiClient;
  let endpointId: string;

  before(async () => {
    system = await sharedSystem();
    receiver = await startReceiver();
    client = await system.account();
    endpointId = (await client.register(receiver.url)).id;
    await purchases(client, DELIVERIES);
    await listed(client, 'status=delivered', DELIVERIES);
  });
  after(() => receiver.close());

  it('are refused with the place of what is wrong', async () => {
    const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString();
    const period = { endpoint_id: endpointId, created_after: daysAgo(1) };
    const cases: [body: unknown, pointer: string, detail?: string][] = [
      [{ rate: 0 }, '/rate'],
      [{ rate: MAX_REPLAY_RATE + 1 }, '/rate'],
      [{ mode: 'some' }, '/mode'],
      [{ action: 'retry', mode: 'all' }, '/mode'],
      [{ filter: { created_after: daysAgo(MAX_REPLAY_PERIOD_DAYS + 1) } }, '/filter/created_after'],
      [{ filter: { created_after: daysAgo(1), created_before: daysAgo(2) } }, '/filter/created_after'],
      [{ filter: { endpoint_id: "ep_' OR 1=1" } }, '/filter/endpoint_id'],
      [{ filter: { status: ['parked'] } }, '/filter/status'],
      [{ filter: { status_code: 99 } }, '/filter/status_code', 'must be an HTTP status from 100 to 599'],
      [{ filter: { stauts: ['delivered'] } }, '/filter/stauts'],
      [{ mode: 'missed', filter: { created_after: daysAgo(1) } }, '/filter/endpoint_id'],
      [{ mode: 'missed', filter: { endpoint_id: endpointId } }, '/filter/created_after'],
      [{ mode: 'missed', filter: { ...period, status: ['expired'] } }, '/filter/status'],
      [
        { mode: 'missed', filter: { ...period, endpoint_id: 'ep_01J0000000000000000000000E' } },
        '/filter/endpoint_id',
      ],
      [{ mode: 'missed', filter: period, registration: 'now', as_of: daysAgo(1) }, '/as_of'],
      [{ mode: 'missed', filter: period, as_of: daysAgo(300) }, '/as_of'],
      [{ registration: 'then' }, '/registration'],
    ];
    for (const [body, pointer, detail = ''] of cases) {
      const { status, json, text } = await client.request('POST', '/v18.0/replays', { body });
      assert.equal(status, 400, JSON.stringify(body));
      assert.ok(
        json.errors.some((one: InputError) => one.pointer === pointer && one.detail.includes(detail)),
        `${pointer}: ${text}`,
      );
    }
  });

  it('belong to one account: to others they are not there, and filters reach nothing of others [world]', async () => {
    const thief = await system.account();
    const { id } = await replay(client, { mode: 'all', rate: 1 });
    for (const [method, path] of [
      ['GET', id],
      ['POST', `${id}/pause`],
      ['POST', `${id}/resume`],
      ['POST', `${id}/cancel`],
      ['GET', 'rpl_nonsense'],
      ['GET', `${client.accountId}:${id}`],
    ] as const) {
      const { status, json } = await thief.request(method, `/v18.0/replays/${path}`);
      assert.deepEqual([status, json.code], [404, 'not_found'], `${method} ${path}`);
    }
    assert.equal((await client.request('POST', `/v18.0/replays/${id}/cancel`)).status, 200);
    // What it has sent again by then may still be on its way.
    const { done } = await replayOver(client, id);
    await receiver.waitFor(({ length }) => length >= DELIVERIES + done);
    assert.deepEqual((await thief.request('GET', '/v18.0/replays')).json.data, []);
    const created_after = new Date(Date.now() - DAY_MS).toISOString();
    for (const body of [{ mode: 'all' }, { mode: 'all', filter: { endpoint_id: endpointId } }]) {
      const sent = receiver.received.length;
      assert.equal((await dryRun(thief, body)).found, 0);
      const { id: theirs } = await replay(thief, body);
      assert.equal((await replayOver(thief, theirs)).found, 0);
      assert.equal(receiver.received.length, sent);
    }
    const body = { mode: 'missed', filter: { endpoint_id: endpointId, created_after } };
    assert.equal((await thief.request('POST', '/v18.0/replays', { body })).status, 400);
    // Nor are its events sent to an endpoint of somebody else.
    const { id: own } = await thief.register(receiver.url);
    const all = { mode: 'missed', filter: { endpoint_id: own, created_after } };
    assert.equal((await dryRun(thief, all)).found, 0);
  });

  it('need a scope of their own for each act', async () => {
    const reader = await system.account(['deliveries:read']);
    const writer = await system.account(['deliveries:write']);
    assert.equal((await reader.request('POST', '/v18.0/replays', { body: {} })).json.code, 'missing_scope');
    assert.equal((await reader.request('GET', '/v18.0/replays')).status, 200);
    assert.equal((await writer.request('GET', '/v18.0/replays')).json.code, 'missing_scope');
    assert.equal((await writer.request('POST', '/v18.0/replays', { body: { dry_run: true } })).status, 200);
  });

  it(`are at most ${MAX_OPEN_REPLAYS} at a time in an account, however fast they are asked for, and of whichever process [world]`, async () => {
    // A process of its own: what it starts, this one learns from the database alone.
    const second = await startSystem(system.environment, 'api');
    const other = await system.account();
    const { id: held } = await other.register(receiver.url);
    await purchases(other, 30);
    await listed(other, 'status=delivered', 30);
    const body = { mode: 'all', rate: 1, filter: { endpoint_id: held } };
    const processes = [other, apiClient(second.url, other)];
    const answers = await Promise.all(
      processes.flatMap((process) =>
        Array.from({ length: MAX_OPEN_REPLAYS }, () => process.request('POST', '/v18.0/replays', { body })),
      ),
    );
    await second.stop();
    const begun = answers.filter(({ status }) => status === 202).map(({ json }) => json.id as string);
    assert.equal(begun.length, MAX_OPEN_REPLAYS);
    for (const { json } of answers.filter(({ status }) => status !== 202))
      assert.equal(json.code, 'replay_limit_reached');
    const { json } = await other.request('GET', '/v18.0/changes?limit=100');
    const created = json.data.filter(
      (one: { action: string; outcome: string }) => one.action === 'created' && one.outcome === 'done',
    );
    assert.equal(
      created.filter(({ resource }: { resource: string }) => resource.startsWith('replay:')).length,
      begun.length,
    );
    for (const id of begun) await other.request('POST', `/v18.0/replays/${id}/cancel`);
    await until(
      () => other.request('POST', '/v18.0/replays', { body }),
      ({ status }) => status === 202,
    );
  });
});
