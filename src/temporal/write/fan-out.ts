import type { fanOutEvent } from '../../../workflows/index.js';
import { type NamedEvent, namedEvent } from '../../domain/delivery/delivery.js';
import { ledgerAttributes } from '../../domain/ledger/search-attributes.js';
import { fanOutSummary } from '../../domain/ledger/summaries.js';
import { fanOutWorkflowId } from '../../domain/ledger/workflow-ids.js';
import { startedNow } from '../errors.js';
import type { FanOutMemo } from '../read/event-view.js';
import type { StartCallOptions } from './start-calls.js';

/**
 * Starts the workflow that starts the deliveries of an event.
 *
 * @param total how many endpoints it goes to
 */
export async function startFanOut(
  { client, taskQueue, earlyAttempts }: Pick<StartCallOptions, 'client' | 'taskQueue' | 'earlyAttempts'>,
  event: NamedEvent,
  total: number,
): Promise<void> {
  const { account_id, event_id, event_kind } = event;
  await startedNow(
    client.workflow.start<typeof fanOutEvent>('fanOutEvent', {
      workflowId: fanOutWorkflowId(account_id, event_id),
      taskQueue,
      args: [{ event: namedEvent(event), total }],
      workflowIdReusePolicy: 'REJECT_DUPLICATE',
      workflowIdConflictPolicy: 'USE_EXISTING',
      requestEagerStart: earlyAttempts !== undefined,
      staticSummary: fanOutSummary(event_kind, total),
      memo: { fan_out: { started: 0, total } } satisfies FanOutMemo,
      typedSearchAttributes: ledgerAttributes({
        accounts: [account_id],
        events: [event_id],
        kind: event_kind,
      }),
    }),
  );
}
