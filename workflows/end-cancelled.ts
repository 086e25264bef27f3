import { CancellationScope, proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.js';
import { SHORT_STEP } from './short-step.js';

/**
 * Ends the execution as Canceled. If nobody has requested that from the server yet, it does so itself.
 *
 * @param scope in which Temporal's own cancellation is noticed
 */
export async function endCancelled(scope = CancellationScope.current()): Promise<never> {
  const { requestCancellation } = proxyActivities<Activities>({ startToCloseTimeout: SHORT_STEP });
  // The cancellation may arrive before the activity's result.
  if (!scope.consideredCancelled) await Promise.race([requestCancellation(), scope.cancelRequested]);
  return scope.cancelRequested;
}
