import assert from 'node:assert/strict';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { createStartDeliveries } from '../../../activities/delivery/start-deliveries.js';
import type { DeliveryBatch, LedgerWriter } from '../../../activities/ports.js';
import { PURCHASE } from '../../support/api-client.js';

/** That an activity fails, as one does here, is no news. */
const logger = new DefaultLogger('ERROR');
const BATCH: DeliveryBatch = {
  account_id: 'acct_1',
  event_id: 'evt_1',
  event_kind: 'purchase',
  payload: PURCHASE,
  accepted_at: '2026-01-31T12:00:00.000Z',
  schedule: [],
  attempt_timeout_ms: 1_000,
  park_limit_ms: 1_000,
  targets: Array.from({ length: 700 }, (_, index) => ({ endpoint_id: `ep_${index}` })),
};

describe('starting the deliveries of a fan-out', () => {
  /** Starts places 0 to 640, or from the last heartbeat on; some may fail. */
  async function run({ lastHeartbeat, failAt }: { lastHeartbeat?: number; failAt?: number } = {}) {
    const started: string[] = [];
    const heartbeats: number[] = [];
    const ledger = {
      readInput: async () => BATCH as never,
      async startSome(_event, targets, place) {
        if (place === failAt) throw new Error('Temporal cannot be reached');
        assert.equal(targets[0]?.endpoint_id, `ep_${place}`);
        started.push(...targets.map(({ endpoint_id }) => endpoint_id));
      },
    } satisfies Partial<LedgerWriter>;
    const environment = new MockActivityEnvironment({ heartbeatDetails: lastHeartbeat }, { logger });
    environment.on('heartbeat', (place: number) => heartbeats.push(place));
    const activity = createStartDeliveries({ ledger: ledger as unknown as LedgerWriter });
    const error = await environment.run(activity, { first: 0, end: 640 }).then(
      () => undefined,
      (caught: unknown) => caught,
    );
    return { started, heartbeats, error };
  }
  const places = (first: number, end: number) =>
    BATCH.targets.slice(first, end).map(({ endpoint_id }) => endpoint_id);

  it('starts each one once, up to the end of the range', async () => {
    const { started, error } = await run();
    assert.equal(error, undefined);
    assert.deepEqual(started, places(0, 640));
  });

  it('continues after the last heartbeat', async () => {
    const { started } = await run({ lastHeartbeat: 360 });
    assert.deepEqual(started, places(360, 640));
  });

  it('reports only what is persisted in a heartbeat, and fails if some cannot be started', async () => {
    const { heartbeats, error } = await run({ failAt: 360 });
    assert.match(String(error), /cannot be reached/);
    assert.deepEqual(heartbeats, [360]);
  });
});
