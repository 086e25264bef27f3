import { condition, proxyActivities, setHandler } from '@temporalio/workflow';
import type { Activities } from '../../activities/index.js';
import type { EndpointKey } from '../../src/domain/endpoint/endpoint-key.js';
import { secretsChanged } from '../messages.js';
import { SHORT_STEP } from '../short-step.js';

const { retireSecrets } = proxyActivities<Activities>({
  startToCloseTimeout: SHORT_STEP,
  retry: { initialInterval: '200ms', maximumInterval: '30s' },
});

/**
 * Ends the overlap of a rotation: sleeps until the next of an endpoint's old signing secrets expires, and removes it.
 * It runs only while there are any.
 */
export async function secretRotation(endpoint: EndpointKey): Promise<void> {
  let changed = false;
  setHandler(secretsChanged, () => {
    changed = true;
  });
  for (;;) {
    changed = false;
    const leftMs = await retireSecrets(endpoint);
    if (leftMs !== null) {
      await condition(() => changed, Math.max(leftMs, 1), {
        summary: `an old signing secret ends at ${new Date(Date.now() + leftMs).toISOString()}`,
      });
    } else if (!changed) {
      return;
    }
  }
}
