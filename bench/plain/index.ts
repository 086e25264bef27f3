import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../../activities/index.js';
import type { DeliverEventInput } from '../../workflows/inputs.js';

/** A delivery done the plain way: one regular activity, which the server retries. What most services on Temporal would do. */
export async function deliverEvent(input: DeliverEventInput): Promise<void> {
  const { attemptDelivery } = proxyActivities<Activities>({ startToCloseTimeout: '15s' });
  const { account_id, event_id, endpoint_id, event_kind, payload, attempt_timeout_ms: timeout_ms } = input;
  await attemptDelivery({
    account_id,
    event_id,
    endpoint_id,
    event_kind,
    payload,
    number: 1,
    trigger: 'schedule',
    timeout_ms,
  });
}
