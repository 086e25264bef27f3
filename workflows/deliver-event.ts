import {
  ApplicationFailure,
  CancellationScope,
  isCancellation,
  proxyActivities,
  proxyLocalActivities,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities } from '../activities/index.js';
import type { AttemptReport } from '../src/domain/delivery/attempt-report.js';
import { attemptRequest } from '../src/domain/delivery/attempt-request.js';
import type { DeliveryRecord, Trigger } from '../src/domain/delivery/delivery.js';
import { attemptPriority, isolatedQueue } from '../src/domain/delivery/lanes.js';
import { closingOf } from '../src/domain/stats/closing.js';
import type { DeliverEventInput } from './inputs.js';
import { LiveDelivery } from './live-delivery.js';
import { lostFirstTasks } from './lost-tasks.js';
import { deliveries } from './sinks.js';

/** Beyond the attempt's own limit: reading the endpoint, signing, and the way back to Temporal. */
export const ATTEMPT_OVERHEAD_MS = 10_000;

/**
 * Delivers one event to one endpoint: the first attempt at once, as a local activity in the first workflow task, so that a delivery
 * that succeeds costs six history events; then, as long as the schedule says, a durable wait and an attempt as a regular activity.
 *
 * The execution is the delivery's record. It completes with it where the event was delivered, fails with it in the failure's details
 * where the delivery is exhausted or expired, and is cancelled where somebody gave it up.
 */
export async function deliverEvent(input: DeliverEventInput): Promise<DeliveryRecord> {
  const delivery = new LiveDelivery(input, input);
  const startToCloseTimeout = input.attempt_timeout_ms + ATTEMPT_OVERHEAD_MS;
  const local = proxyLocalActivities<Activities>({ startToCloseTimeout, retry: { maximumAttempts: 1 } });
  const lost = input.so_far ? 0 : lostFirstTasks();
  const request = (trigger: Trigger, isolated = false) =>
    attemptRequest(input, input.endpoint_id, input.attempt_timeout_ms, {
      number: delivery.nextNumber,
      trigger,
      isolated,
      turn: delivery.turn,
      lostTries: delivery.nextNumber === 1 && !input.isolated ? lost : undefined,
    });

  const attemptDirectly = (trigger: Trigger): Promise<AttemptReport> =>
    CancellationScope.nonCancellable(() => local.attemptDelivery(request(trigger)));

  const attemptIsolated = (trigger: Trigger): Promise<AttemptReport> => {
    // An attempt that the endpoint fails is a result, not an error: Temporal repeats only attempts that could not be made or were lost.
    const { attemptDelivery } = proxyActivities<Activities>({
      taskQueue: isolatedQueue(workflowInfo().taskQueue),
      startToCloseTimeout,
      retry: { initialInterval: '1s', maximumInterval: '1m' },
      summary: `attempt ${delivery.nextNumber}`,
      priority: {
        priorityKey: attemptPriority(trigger, delivery.nextNumber, input.resent !== undefined),
        fairnessKey: input.endpoint_id,
      },
    });
    return CancellationScope.nonCancellable(() => attemptDelivery(request(trigger, true)));
  };

  const attemptFirst = (): Promise<AttemptReport> => {
    const trigger = input.resent ? 'manual' : 'schedule';
    return input.isolated
      ? attemptIsolated(trigger)
      : attemptDirectly(trigger).catch(() => attemptIsolated(trigger));
  };

  try {
    let state = input.so_far ? 'open' : delivery.settle(input.first_report ?? (await attemptFirst()));
    while (state === 'open') {
      const trigger = await delivery.wait();
      if (trigger === undefined) break;
      state = delivery.settle(await attemptIsolated(trigger));
    }
  } catch (error) {
    if (!isCancellation(error)) throw error;
    delivery.cancelledByTemporal();
  }
  const closing = closingOf(input, input.endpoint_id, delivery.record);
  if (closing) deliveries.closed([closing]);
  if (delivery.record.status === 'cancelled') return endCancelled();
  return close(delivery.record, input);
}

/** Ends the execution as Canceled. If nobody has requested that from the server yet, it does so itself. */
export async function endCancelled(): Promise<never> {
  const { requestCancellation } = proxyActivities<Activities>({ startToCloseTimeout: '30s' });
  const scope = CancellationScope.current();
  // The cancellation may arrive before the activity's result.
  if (!scope.consideredCancelled) await Promise.race([requestCancellation(), scope.cancelRequested]);
  return scope.cancelRequested;
}

/** The execution's own status tells the outcome, so that Temporal UI's filters tell the truth. */
function close(record: DeliveryRecord, { sealed }: DeliverEventInput): DeliveryRecord {
  if (record.status === 'delivered') return record;
  // A failure's message is not encrypted, as its details are: of a sealed event it says no more than the status.
  throw ApplicationFailure.create({
    type: record.status,
    message: sealed ? record.status : (record.reason ?? record.status),
    nonRetryable: true,
    details: [record],
  });
}
