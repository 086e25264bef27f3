import { proxyActivities, upsertMemo } from '@temporalio/workflow';
import type { Activities } from '../activities/index.js';
import type { FanOutEventInput } from './inputs.js';

/**
 * Deliveries that one activity starts. It reads the event from the workflow's own input, so that the payload stands in
 * the history once, however many batches there are; progress is written after each.
 */
const BATCH_SIZE = 600;

const { startDeliveries } = proxyActivities<Activities>({
  startToCloseTimeout: '10m',
  heartbeatTimeout: '10s',
  retry: { initialInterval: '1s', maximumInterval: '30s' },
});

/**
 * Starts the deliveries of an event that goes to many endpoints, or to none: so every accepted event leaves a trace.
 * Interrupted, it goes on where it was; what has been started already is not started again, as its workflow id is
 * taken.
 */
export async function fanOutEvent({ targets }: FanOutEventInput): Promise<{ deliveries: number }> {
  for (let first = 0; first < targets.length; first += BATCH_SIZE) {
    const end = Math.min(first + BATCH_SIZE, targets.length);
    await startDeliveries({ first, end });
    upsertMemo({ fan_out: { started: end, total: targets.length } });
  }
  return { deliveries: targets.length };
}
