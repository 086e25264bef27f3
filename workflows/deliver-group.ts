import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import {
  CancellationScope,
  ParentClosePolicy,
  proxyLocalActivities,
  startChild,
  upsertMemo,
} from '@temporalio/workflow';
import type { Activities } from '../activities/index.js';
import type { AttemptReport } from '../src/domain/delivery/attempt-report.js';

import { deliveryAttributes } from '../src/domain/ledger/search-attributes.js';
import { deliveryWorkflowId } from '../src/domain/ledger/workflow-ids.js';
import { ATTEMPT_OVERHEAD_MS, deliverEvent } from './deliver-event.js';
import type { DeliverGroupInput, DeliverGroupResult } from './inputs.js';
import { deliveredRecord } from './live-delivery.js';

/**
 * Delivers events that arrived while Temporal was busy. As a database commits waiting transactions together, one execution
 * stands for many deliveries. All first attempts are made side by side in one local activity. What was delivered is in the result; every
 * other delivery goes on as a `deliverEvent` of its own, which outlives the group and knows its first attempt.
 */
export async function deliverGroup(input: DeliverGroupInput): Promise<DeliverGroupResult> {
  // A group cannot be cancelled as a whole; each delivery that goes on can.
  return CancellationScope.nonCancellable(async () => {
    const { events, deliveries, ...settings } = input;
    const { attemptGroup } = proxyLocalActivities<Activities>({
      startToCloseTimeout: input.attempt_timeout_ms + ATTEMPT_OVERHEAD_MS,
      retry: { maximumAttempts: 1 },
    });
    const unmade: (AttemptReport | null)[] = [];
    const reports = await attemptGroup({ events, deliveries, timeout_ms: input.attempt_timeout_ms }).catch(
      () => unmade,
    );
    const records = deliveries.map((_, index) => deliveredRecord(reports[index]));

    const handedOver = deliveries.flatMap((_, index) => (records[index] ? [] : [index]));
    if (handedOver.length > 0) {
      await Promise.all(handedOver.map((index) => handOver(input, settings, index, reports[index])));
      upsertMemo({ handed_over: handedOver });
    }
    return { deliveries: records };
  });
}

async function handOver(
  { events, deliveries }: DeliverGroupInput,
  settings: Omit<DeliverGroupInput, 'events' | 'deliveries'>,
  index: number,
  report: AttemptReport | null | undefined,
): Promise<void> {
  const delivery = deliveries[index];
  const event = delivery && events[delivery.event];
  if (!event) return;
  const { endpoint_id, schedule = settings.schedule } = delivery;
  try {
    await startChild(deliverEvent, {
      workflowId: deliveryWorkflowId(event.account_id, { event_id: event.event_id, endpoint_id }),
      args: [
        {
          ...event,
          ...settings,
          endpoint_id,
          schedule,
          ...(report ? { first_report: report } : { isolated: true }),
        },
      ],
      parentClosePolicy: ParentClosePolicy.ABANDON,
      typedSearchAttributes: deliveryAttributes(event, endpoint_id),
    });
  } catch (error) {
    // It goes on already: an event that was accepted twice.
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
}
