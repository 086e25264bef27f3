import assert from 'node:assert/strict';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import type { FanOutPorts } from '../../../activities/delivery/start-deliveries.js';
import { createStartDeliveries } from '../../../activities/delivery/start-deliveries.js';

/** Quiet: an activity fails here on purpose. */
const logger = new DefaultLogger('ERROR');
describe('starting the deliveries of a fan-out', () => {
  /** Starts places 0 to 640, or from the last heartbeat on; some may fail. */
  async function run({ lastHeartbeat, failAt }: { lastHeartbeat?: number; failAt?: number } = {}) {
    const started: [first: number, end: number][] = [];
    const heartbeats: number[] = [];
    const ledger = {
      async startSome(_eventId, first, end) {
        if (first === failAt) throw new Error('Temporal cannot be reached');
        started.push([first, end]);
      },
    } satisfies FanOutPorts['ledger'];
    const environment = new MockActivityEnvironment({ heartbeatDetails: lastHeartbeat }, { logger });
    environment.on('heartbeat', (place: number) => heartbeats.push(place));
    const activity = createStartDeliveries({ ledger });
    const error = await environment.run(activity, { event_id: 'evt_1', first: 0, end: 640 }).then(
      () => undefined,
      (caught: unknown) => caught,
    );
    return { started, heartbeats, error };
  }
  it('starts each one once, up to the end of the range', async () => {
    const { started, error } = await run();
    assert.equal(error, undefined);
    assert.deepEqual(started, [
      [0, 360],
      [360, 640],
    ]);
  });

  it('continues after the last heartbeat', async () => {
    const { started } = await run({ lastHeartbeat: 360 });
    assert.deepEqual(started, [[360, 640]]);
  });

  it('reports only what is persisted in a heartbeat, and fails if some cannot be started', async () => {
    const { heartbeats, error } = await run({ failAt: 360 });
    assert.match(String(error), /cannot be reached/);
    assert.deepEqual(heartbeats, [360]);
  });
});
