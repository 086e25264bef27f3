import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.js';
import type { FanOutEventInput, FanOutEventResult } from './inputs.js';

/** Each batch repeats the payload in the history: small enough to lose little by a crash, large enough to keep that short. */
const BATCH_SIZE = 100;

const { startDeliveries } = proxyActivities<Activities>({
  startToCloseTimeout: '2m',
  heartbeatTimeout: '20s',
  retry: { initialInterval: '1s', maximumInterval: '30s' },
});

/**
 * Starts the deliveries of an event that goes to many endpoints, or to none: so every accepted event leaves a trace. Interrupted, it
 * goes on where it was; a delivery that has been started already is not started again, as its workflow id is taken.
 */
export async function fanOutEvent(input: FanOutEventInput): Promise<FanOutEventResult> {
  const { targets, ...event } = input;
  for (let first = 0; first < targets.length; first += BATCH_SIZE) {
    await startDeliveries({ ...event, targets: targets.slice(first, first + BATCH_SIZE) });
  }
  return { deliveries: targets.length };
}
