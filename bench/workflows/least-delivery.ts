import { proxyLocalActivities } from '@temporalio/workflow';

/**
 * The least that a delivery with its first attempt in the first workflow task can be: one local activity that does
 * nothing.
 */
export async function leastDelivery(): Promise<void> {
  const { attempt } = proxyLocalActivities<{ attempt(): Promise<void> }>({ startToCloseTimeout: '15s' });
  await attempt();
}
