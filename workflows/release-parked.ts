import { proxyActivities, sleep } from '@temporalio/workflow';
import type { Activities } from '../activities/index.js';
import type { EndpointKey } from '../src/domain/delivery.js';

/** Longer than an attempt lasts: whatever saw the endpoint as it was before has been parked by then. */
const STRAGGLERS = '30s';

const { releaseParkedDeliveries } = proxyActivities<Activities>({
  startToCloseTimeout: '1h',
  heartbeatTimeout: '30s',
  retry: { initialInterval: '1s', maximumInterval: '30s' },
});

/**
 * Wakes the parked deliveries of an endpoint that takes deliveries again, or is gone, oldest first; and once more those that an attempt
 * under way has parked meanwhile.
 */
export async function releaseParked(endpoint: EndpointKey): Promise<void> {
  await releaseParkedDeliveries(endpoint);
  await sleep(STRAGGLERS, { summary: 'for attempts under way' });
  await releaseParkedDeliveries(endpoint);
}
