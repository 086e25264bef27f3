import { proxyActivities, sleep } from '@temporalio/workflow';
import type { Activities } from '../../activities/index.js';
import { SHORT_STEP } from '../short-step.js';

/** A scheduled event. */
export interface ScheduledKey {
  account_id: string;
  id: string;
}

/** How often, and after which pause, one is looked for that is not stored: its insert may be under way. */
const MISSING = { looks: 3, pauseMs: 10_000 };

const { sendScheduledEvent } = proxyActivities<Activities>({
  startToCloseTimeout: SHORT_STEP,
  retry: { initialInterval: '1s', maximumInterval: '1m' },
});

/**
 * Sends a scheduled event when it is due. It is started with that delay, and replaced when the event is moved;
 * whether it is due is decided by MongoDB's clock.
 */
export async function sendScheduled(key: ScheduledKey): Promise<void> {
  for (let missing = 0; missing < MISSING.looks; ) {
    const { is_missing, wait_ms } = await sendScheduledEvent(key);
    if (is_missing) missing += 1;
    else if (wait_ms === undefined) return;
    await sleep(wait_ms ?? MISSING.pauseMs);
  }
}
