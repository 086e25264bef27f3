import assert from 'node:assert/strict';
import { WorkflowFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { newId } from '../../src/domain/basics/ids.js';
import type { AttemptReport } from '../../src/domain/delivery/attempt-report.js';
import type { AttemptRequest } from '../../src/domain/delivery/attempt-request.js';
import type { DeliveryRecord } from '../../src/domain/delivery/delivery.js';
import { DEFAULT_RETRY_SCHEDULE } from '../../src/domain/delivery/retry-schedule.js';
import { connectTemporal, type TemporalConnection } from '../../src/temporal/server/connection.js';
import type { deliverEvent } from '../../workflows/index.js';
import { PURCHASE } from '../support/api-client.js';
import { answered } from '../support/parts/answered.js';
import { startStubWorker } from '../support/parts/stub-worker.js';
import { temporalOfRun } from '../support/servers.js';

describe('deliverEvent', () => {
  let temporal: TemporalConnection;

  before(async () => {
    temporal = await connectTemporal(temporalOfRun());
  });
  after(() => temporal.close());

  /** Runs one delivery over an attempt of the test's own. */
  async function run(
    attemptDelivery: (request: AttemptRequest) => Promise<AttemptReport>,
    schedule: readonly number[],
  ): Promise<DeliveryRecord> {
    const workflowId = newId('event');
    const stop = await startStubWorker(temporal, workflowId, { attemptDelivery });
    try {
      return await temporal.client.workflow.execute<typeof deliverEvent>('deliverEvent', {
        workflowId,
        taskQueue: workflowId,
        args: [
          {
            account_id: newId('account'),
            event_id: workflowId,
            endpoint_id: newId('endpoint'),
            event_kind: 'purchase',
            payload: PURCHASE,
            accepted_at: new Date().toISOString(),
            schedule,
            attempt_timeout_ms: 1_000,
            park_limit_ms: 1_000,
          },
        ],
      });
    } finally {
      await stop();
    }
  }

  it('makes an attempt that could not be made durably, and counts it once', async () => {
    let calls = 0;
    const record = await run(
      async (request) => {
        calls += 1;
        if (calls <= 2) throw new Error('the endpoints cannot be read');
        return answered(200, request);
      },
      [1],
    );
    assert.equal(calls, 3);
    assert.equal(record.status, 'delivered');
    assert.deepEqual(
      record.attempts.map(({ number }) => number),
      [1],
    );
  });

  it('goes through the whole default schedule, scaled down a hundred thousand times', async () => {
    const schedule = DEFAULT_RETRY_SCHEDULE.map((wait) => Math.max(1, Math.round(wait / 100_000)));
    const times: number[] = [];
    const outcome = run(async (request) => {
      times.push(Date.now());
      return answered(503, request);
    }, schedule);
    const failed = await outcome.then(
      () => assert.fail('it succeeded'),
      (error: unknown) => error,
    );
    assert.ok(failed instanceof WorkflowFailedError && failed.cause instanceof ApplicationFailure);
    assert.equal(failed.cause.type, 'exhausted');
    const record = failed.cause.details?.[0] as DeliveryRecord;
    assert.deepEqual(
      record.attempts.map(({ number }) => number),
      [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
    );
    for (const [index, wait] of schedule.entries()) {
      const waited = (times[index + 1] ?? 0) - (times[index] ?? 0);
      assert.ok(waited >= wait, `attempt ${index + 2} came after ${waited} ms, not ${wait}`);
    }
  });
});
