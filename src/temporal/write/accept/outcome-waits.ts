import { startWorkflow, type WorkflowHandle } from '@temporalio/nexus';
import type { StartOperationContext } from 'nexus-rpc';
import type { awaitOutcome } from '../../../../workflows/index.js';
import { ledgerAttributes } from '../../../domain/ledger/search-attributes.js';
import { fitSummary } from '../../../domain/ledger/summaries.js';
import { outcomeWorkflowId } from '../../../domain/ledger/workflow-ids.js';
import type { AwaitedEvent, EventOutcome } from '../../../domain/view/event-outcome.js';

/** Starts the execution that completes a Nexus operation once all deliveries of its event are closed. */
export function startOutcomeWait(
  ctx: StartOperationContext,
  taskQueue: string,
  event: AwaitedEvent,
): Promise<WorkflowHandle<EventOutcome>> {
  const { account_id, event_id, event_kind } = event;
  return startWorkflow<typeof awaitOutcome>(ctx, 'awaitOutcome', {
    // One for each operation: to cancel one wait for an event is not to cancel another.
    workflowId: outcomeWorkflowId(account_id, event_id, ctx.requestId),
    taskQueue,
    args: [event],
    staticSummary: fitSummary(`${event_kind}: ${event.delivery_count} deliveries`),
    typedSearchAttributes: ledgerAttributes({
      accounts: [account_id],
      events: [event_id],
      kind: event_kind,
    }),
  });
}
