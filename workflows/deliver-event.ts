import {
  ApplicationFailure,
  CancellationScope,
  isCancellation,
  proxyActivities,
  proxyLocalActivities,
} from '@temporalio/workflow';
import type { Activities } from '../activities/index.js';
import type { AttemptReport } from '../activities/ports.js';
import type { DeliveryRecord, Trigger } from '../src/domain/delivery.js';
import type { DeliverEventInput } from './inputs.js';
import { LiveDelivery } from './live-delivery.js';

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
  const delivery = new LiveDelivery(input);
  const startToCloseTimeout = input.attempt_timeout_ms + ATTEMPT_OVERHEAD_MS;
  const local = proxyLocalActivities<Activities>({ startToCloseTimeout, retry: { maximumAttempts: 1 } });
  // An attempt that the endpoint fails is a result, not an error: Temporal repeats only attempts that could not be made or were lost.
  const durable = proxyActivities<Activities>({
    startToCloseTimeout,
    retry: { initialInterval: '1s', maximumInterval: '1m' },
  });

  const attempt = (
    attemptDelivery: Activities['attemptDelivery'],
    trigger: Trigger,
  ): Promise<AttemptReport> =>
    CancellationScope.nonCancellable(() =>
      attemptDelivery({
        account_id: input.account_id,
        event_id: input.event_id,
        endpoint_id: input.endpoint_id,
        event_kind: input.event_kind,
        payload: input.payload,
        number: delivery.nextNumber,
        trigger,
        timeout_ms: input.attempt_timeout_ms,
      }),
    );

  try {
    let report =
      input.first_report ??
      (await attempt(local.attemptDelivery, 'schedule').catch(() =>
        attempt(durable.attemptDelivery, 'schedule'),
      ));
    while (delivery.settle(report) === 'open') {
      const trigger = await delivery.wait();
      if (trigger === undefined) break;
      report = await attempt(durable.attemptDelivery, trigger);
    }
  } catch (error) {
    if (!isCancellation(error)) throw error;
    delivery.cancelledByTemporal();
  }
  if (delivery.record.status === 'cancelled') return endCancelled(durable.requestCancellation);
  return close(delivery.record);
}

/** Ends the execution as Canceled. Where nobody has asked the server for that yet, it asks. */
async function endCancelled(requestCancellation: Activities['requestCancellation']): Promise<never> {
  const scope = CancellationScope.current();
  if (!scope.consideredCancelled) await requestCancellation();
  return scope.cancelRequested;
}

/** The execution's own status tells the outcome, so that Temporal UI's filters tell the truth. */
function close(record: DeliveryRecord): DeliveryRecord {
  if (record.status === 'delivered') return record;
  const reason = record.reason ?? record.status;
  throw ApplicationFailure.create({
    type: record.status,
    message: reason,
    nonRetryable: true,
    details: [record],
  });
}
