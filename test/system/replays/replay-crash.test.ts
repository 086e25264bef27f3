import assert from 'node:assert/strict';
import type { Change } from '../../../src/domain/change/change.js';
import { apiClient } from '../../support/api-client.js';
import { readAll } from '../../support/parts/pages.js';
import { dryRun, listed, purchases, replay, replayOver } from '../../support/parts/replays.js';
import { startServiceProcess } from '../../support/programs/process.js';
import { type Receiver, startReceiver } from '../../support/receiver.js';
import { startSystem, type TestSystem } from '../../support/system.js';

const DELIVERIES = 20;
const BEFORE_THE_CRASH = 10;
/** Each second: what is left after the crash is not under way yet. */
const RATE = 15;

describe(`a replay of ${DELIVERIES} deliveries [world]`, () => {
  let system: TestSystem;
  let receiver: Receiver;

  before(async () => {
    system = await startSystem({}, 'api');
    receiver = await startReceiver();
  });
  after(async () => {
    await receiver.close();
    await system.stop();
  });

  it('survives the death of its process half-way: each delivery has one more run, and the count is that of its dry run', async () => {
    const { accountId, key, keyId } = await system.account();
    const first = await startServiceProcess(system.environment);
    const client = apiClient(first.url, { accountId, key, keyId });
    const { id: endpointId } = await client.register(receiver.url);
    await purchases(client, DELIVERIES);
    const ids = await listed(client, 'status=delivered', DELIVERIES);
    const body = { mode: 'all', filter: { endpoint_id: endpointId } };
    const preview = await dryRun(client, body);
    assert.equal(preview.found, DELIVERIES);

    const { id } = await replay(client, { ...body, rate: RATE });
    await receiver.waitFor((all) => all.length >= DELIVERIES + BEFORE_THE_CRASH);
    await first.kill();

    const heir = await startSystem(system.environment);
    try {
      const survivor = apiClient(heir.url, { accountId, key, keyId });
      const over = await replayOver(survivor, id, 150_000);
      assert.deepEqual(
        [over.state, over.found, over.done, over.skipped, over.failed],
        ['finished', preview.found, preview.found, 0, 0],
      );
      const now = await listed(survivor, 'status=delivered', DELIVERIES);
      assert.deepEqual(new Set(now), new Set(ids));
      for (const { id: one, earlier_runs, interventions } of await Promise.all(
        ids.map((one) => survivor.delivery(one)),
      )) {
        assert.equal(earlier_runs?.length, 1, one);
        assert.deepEqual(
          interventions?.map(({ replay }) => replay),
          [id],
        );
      }
      const recorded = new Map<string, number>();
      for (const { action, resource } of await readAll<Change>(survivor, '/v18.0/changes?limit=100'))
        if (action === 'resent') recorded.set(resource, (recorded.get(resource) ?? 0) + 1);
      assert.equal(recorded.size, DELIVERIES);
      assert.deepEqual([...new Set(recorded.values())], [1]);
    } finally {
      await heir.stop();
    }
  });
});
