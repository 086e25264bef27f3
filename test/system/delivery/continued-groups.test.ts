import assert from 'node:assert/strict';
import { deliveryId } from '../../../src/domain/basics/delivery-id.js';
import type { TimelineItem } from '../../../src/domain/explain/timeline.js';
import { groupWorkflowId } from '../../../src/domain/ledger/workflow-ids.js';
import { release } from '../../../workflows/messages.js';
import type { ApiClient } from '../../support/api-client.js';
import { executionOf } from '../../support/history.js';
import { startGroup } from '../../support/parts/start-group.js';
import { type Receiver, reply, startReceiver } from '../../support/receiver.js';
import { type SharedSystem, sharedSystem, UNHURRIED } from '../../support/system.js';
import { until } from '../../support/until.js';

/** Signals that release nothing, until the history has the 4 MiB from which Temporal suggests a new run. */
const SIGNALS = 10;
const NO_ENDPOINT = 'x'.repeat(500_000);

describe('a group that continues in a new run', () => {
  let system: SharedSystem;
  let client: ApiClient;
  let receiver: Receiver;
  before(async () => {
    system = await sharedSystem(UNHURRIED);
    client = await system.account();
    receiver = await startReceiver({ handler: reply(500, {}, 'no') });
  });
  after(() => receiver.close());

  it('still says how its deliveries stand, what was done to them, and when it began [world]', async () => {
    const { id: endpoint_id } = await client.register(receiver.url);
    const now = Date.now();
    const { groupId, events } = await startGroup(system, client, endpoint_id, [now, now]);
    const [id = '', other = ''] = events.map(({ event_id }) => deliveryId({ event_id, endpoint_id }));
    const group = await executionOf(system, groupWorkflowId(groupId));
    for (const one of [id, other]) await client.deliveryUntil(one, ({ status }) => status === 'retrying');
    const act = async (action: string) => {
      const { status, text } = await client.request('POST', `/v18.0/deliveries/${id}/${action}`);
      assert.equal(status, 200, text);
      return client.delivery(id);
    };
    const paused = await act('pause');
    const first = await group.describe();
    for (let count = 0; count < SIGNALS; count += 1)
      await group.signal(release, { endpoint_id: NO_ENDPOINT });
    const next = await until(
      async () => {
        // A task is what Temporal suggests it with.
        await group.signal(release, { endpoint_id: 'ep_none' });
        return group.describe();
      },
      ({ runId }) => runId !== first.runId,
    );
    assert.deepEqual(next.memo, { ...first.memo, created_at: first.startTime.toISOString() });
    const carriedOver = await client.deliveryUntil(id, ({ run_id }) => run_id === next.runId);
    assert.deepEqual(carriedOver, { ...paused, run_id: next.runId });
    const resumed = await act('resume');
    assert.deepEqual([resumed.status, resumed.run_id], ['retrying', next.runId]);
    assert.deepEqual(
      [resumed.attempts, resumed.started_at, resumed.interventions?.map(({ action }) => action)],
      [paused.attempts, paused.started_at, ['pause', 'resume']],
    );
    assert.equal(resumed.attempts[0]?.response_snippet, 'no');
    const { data } = (await client.request('GET', `/v18.0/deliveries/${id}/timeline`)).json;
    const told = data.flatMap(({ type, action, text }: TimelineItem) =>
      type === 'incident' ? [] : type === 'started' ? text : (action ?? type),
    );
    const started = 'Started in a group with other deliveries.';
    const carriedOn = 'Its group carried on in a new run.';
    assert.deepEqual(told, ['accepted', started, 'attempt', 'wait', 'pause', carriedOn, 'resume', 'wait']);
  });
});
