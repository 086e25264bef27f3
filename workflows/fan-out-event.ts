import { proxyActivities, upsertMemo } from '@temporalio/workflow';
import type { Activities } from '../activities/index.js';
import type { FanOutEventInput } from './inputs.js';

/** Deliveries that one activity starts. Progress is written after each. */
const BATCH_SIZE = 600;

const { startDeliveries } = proxyActivities<Activities>({
  startToCloseTimeout: '10m',
  heartbeatTimeout: '10s',
  retry: { initialInterval: '1s', maximumInterval: '30s' },
});

/**
 * Starts the deliveries of an event that goes to many endpoints. Interrupted, it goes on where it was; what has been
 * started already is not started again, as its workflow id is taken.
 */
export async function fanOutEvent({ event, total }: FanOutEventInput): Promise<{ deliveries: number }> {
  for (let first = 0; first < total; first += BATCH_SIZE) {
    const end = Math.min(first + BATCH_SIZE, total);
    await startDeliveries({ event_id: event.event_id, first, end });
    upsertMemo({ fan_out: { started: end, total } });
  }
  return { deliveries: total };
}
