import assert from 'node:assert/strict';
import { MockActivityEnvironment } from '@temporalio/testing';
import type { ReleasePorts } from '../../../activities/delivery/release-parked-deliveries.js';
import { createReleaseParkedDeliveries } from '../../../activities/delivery/release-parked-deliveries.js';
import type { ReleaseOptions } from '../../../src/domain/endpoint/release.js';
import { TIMINGS } from '../../../src/domain/timings.js';

/** Asks once whether the endpoint takes deliveries, of a process that remembers it as something else. */
async function askedDuringRelease(remembered: object, now: object | undefined): Promise<string> {
  const answers: string[] = [];
  const releaseParkedDeliveries = createReleaseParkedDeliveries({
    timings: TIMINGS,
    endpoints: { load: async () => remembered, loadFresh: async () => now },
    ledger: {
      async releaseBacklog(_endpoint: unknown, { endpoint }: ReleaseOptions) {
        answers.push(await endpoint());
        return { released: 0, stopped: false };
      },
    },
  } as unknown as ReleasePorts);
  const request = { account_id: 'acct_1', endpoint_id: 'ep_1', per_second: 20 };
  await new MockActivityEnvironment().run(releaseParkedDeliveries, request);
  return answers.join();
}

describe('a release', () => {
  it('goes on in a process that remembers the endpoint as it was before another one resumed it', async () => {
    assert.equal(await askedDuringRelease({ status: 'paused' }, { status: 'active' }), 'open');
  });

  it('stops for an endpoint that is paused by now, and is fast for one that is gone', async () => {
    assert.equal(await askedDuringRelease({ status: 'active' }, { status: 'paused' }), 'closed');
    assert.equal(await askedDuringRelease({ status: 'active' }, undefined), 'gone');
  });
});
