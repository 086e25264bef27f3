import { proxyActivities, sleep } from '@temporalio/workflow';
import type { Activities } from '../activities/index.js';
import type { ReleaseParkedInput } from './inputs.js';

/** Longer than an attempt lasts: whatever saw the endpoint as it was before has been parked by then. */
const STRAGGLERS = '30s';

const { releaseParkedDeliveries } = proxyActivities<Activities>({
  startToCloseTimeout: '1d',
  heartbeatTimeout: '30s',
  retry: { initialInterval: '1s', maximumInterval: '30s' },
});

/**
 * Wakes the parked deliveries of an endpoint that takes deliveries again, or is gone, oldest first; and once more those that an attempt
 * under way has parked meanwhile. It does so at a bounded rate: an endpoint that has just returned must not be overrun.
 */
export async function releaseParked(input: ReleaseParkedInput): Promise<void> {
  await releaseParkedDeliveries(input);
  await sleep(STRAGGLERS, { summary: 'for attempts under way' });
  await releaseParkedDeliveries(input);
}
