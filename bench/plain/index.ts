import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../../activities/index.js';
import type { LiveGroup } from '../../src/domain/delivery/delivery-group.js';

/**
 * A delivery done the plain way: one regular activity, which the server retries. What most services on Temporal would
 * do.
 */
export async function deliver({
  events,
  deliveries,
  attempt_timeout_ms: timeout_ms,
}: LiveGroup): Promise<void> {
  const { attemptReleased } = proxyActivities<Activities>({ startToCloseTimeout: '15s' });
  const attempts = [{ index: 0, number: 1, trigger: 'schedule' as const }];
  await attemptReleased({ attempts, events, deliveries, timeout_ms, asked_at: Date.now() });
}
