import assert from 'node:assert/strict';
import {
  createKnowledge,
  createLedger,
  createReplayLedger,
  createStarter,
} from '../../../src/bin/service/ledger.js';
import { parseDeliveryId } from '../../../src/domain/basics/delivery-id.js';
import { LostReplayError, type ReplayPlan } from '../../../src/domain/replay/replay.js';
import type { ApiClient } from '../../support/api-client.js';
import { changesOf } from '../../support/parts/changes.js';
import { listed, purchases } from '../../support/parts/replays.js';
import { type Receiver, startReceiver } from '../../support/receiver.js';
import { type SharedSystem, sharedSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

describe('an act of a replay', () => {
  let system: SharedSystem;
  let receiver: Receiver;
  let client: ApiClient;
  let id: string;
  const ledgerOf = (of: SharedSystem) =>
    createReplayLedger(
      of,
      createLedger(
        of.settings,
        of,
        createStarter(of.settings, of, createKnowledge(of.settings, of), undefined),
      ),
    );
  const planOf = (replay_id: string): ReplayPlan => ({
    account_id: client.accountId,
    replay_id,
    action: 'resend',
    mode: 'all',
    at: new Date().toISOString(),
    rate: 10,
    actor: { type: 'api_key', id: client.keyId },
  });
  const found = async () => {
    const key = parseDeliveryId(id);
    assert.ok(key);
    const { workflow_id, run_id } = await client.delivery(id);
    return { ...key, run_id, ...(workflow_id.startsWith('group:') && { workflow_id }) };
  };

  before(async () => {
    system = await sharedSystem();
    receiver = await startReceiver();
  });
  after(() => receiver.close());
  beforeEach(async () => {
    client = await system.account();
    await client.register(receiver.url);
    [id = ''] = await purchases(client, 1);
    await listed(client, 'status=delivered', 1);
  });

  it('is done once, by however many processes at the same moment, and also after its run is over [world]', async () => {
    const plan = planOf('rpl_01J0000000000000000000000A');
    const item = await found();
    const [one, other] = [ledgerOf(system), ledgerOf(system)];
    const results = await Promise.all(
      Array.from({ length: 8 }, (_, index) => (index % 2 ? one : other).act(plan, item)),
    );
    assert.deepEqual(new Set(results.map(({ result }) => result)), new Set(['done']));
    await client.deliveryUntil(id, ({ status, earlier_runs }) => status === 'delivered' && !!earlier_runs);
    assert.equal((await one.act(plan, item)).result, 'done');
    assert.equal((await client.delivery(id)).earlier_runs?.length, 1);
  });

  it('is not done to a delivery that somebody else has sent again', async () => {
    const item = await found();
    assert.equal((await client.request('POST', `/v18.0/deliveries/${id}/resend`)).status, 202);
    const resent = await client.deliveryUntil(id, ({ status }) => status === 'delivered');
    const { result } = await ledgerOf(system).act(planOf('rpl_01J0000000000000000000000B'), item);
    assert.equal(result, 'skipped');
    assert.equal((await client.delivery(id)).run_id, resent.run_id);
  });

  it('is not one for what somebody has sent again since the replay was asked for', async () => {
    const filter = {
      created_after: new Date(Date.now() - 60_000).toISOString(),
      created_before: new Date().toISOString(),
    };
    const plan = planOf('rpl_01J0000000000000000000000D');
    const { run_id } = await found();
    assert.equal((await client.request('POST', `/v18.0/deliveries/${id}/resend`)).status, 202);
    await until(
      async () => (await client.request('GET', '/v18.0/deliveries?status=delivered')).json.data,
      ([row]) => row !== undefined && row.run_id !== run_id,
    );
    const { account_id, replay_id } = plan;
    const definition = { action: 'resend', filter: {}, rate: 1, by: '', created_at: plan.at };
    await system.database.replays.add({ id: replay_id, account_id, definition, input: { filter, from: {} } });
    const { items } = await ledgerOf(system).find(plan, undefined);
    assert.deepEqual(items, []);
  });

  it('finds nothing if it is not known any more what it selects', async () => {
    const plan = planOf('rpl_01J0000000000000000000000E');
    await assert.rejects(ledgerOf(system).find(plan, undefined), LostReplayError);
  });

  it('is recorded once, however often it is announced, and says how it ended', async () => {
    const ledger = ledgerOf(system);
    const plan = planOf('rpl_01J0000000000000000000000C');
    const item = await found();
    const recorded = async () =>
      (await changesOf(client, `delivery:${id}`)).map(({ action, outcome }) => [action, outcome]);
    const at = Date.now();
    await ledger.announce(plan, [item], at);
    const ended = await ledger.announce(plan, [item], at);
    assert.deepEqual(await recorded(), [['resent', 'unknown']]);
    await ended(new Map([[id, 'refused']]));
    assert.deepEqual(await recorded(), [['resent', 'refused']]);
  });
});
