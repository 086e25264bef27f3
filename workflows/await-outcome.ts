import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.js';
import type { AwaitedEvent, EventOutcome } from '../src/domain/view/event-outcome.js';
import { SHORT_STEP } from './short-step.js';

const { readOutcome } = proxyActivities<Activities>({
  startToCloseTimeout: SHORT_STEP,
  // Longer than any delivery stays open by itself.
  scheduleToCloseTimeout: '30d',
  // Tries leave nothing in the history, however many there are.
  retry: { initialInterval: '200ms', backoffCoefficient: 1.5, maximumInterval: '30s' },
});

/**
 * Waits until all deliveries of an event are closed, for the Nexus operation `publishAndWait`. To cancel it ends the
 * wait; the deliveries go on.
 */
export function awaitOutcome(event: AwaitedEvent): Promise<EventOutcome> {
  return readOutcome(event);
}
