import type { Client } from '@temporalio/client';
import { TypedSearchAttributes } from '@temporalio/common';
import type { eraseSubject } from '../../../../workflows/index.js';
import { ACCOUNT_ATTRIBUTE } from '../../../domain/ledger/search-attributes.js';
import { erasureWorkflowId } from '../../../domain/ledger/workflow-ids.js';
import type { ErasurePlan } from '../../../domain/privacy/erasure.js';
import { type Timings, timingsOfInput } from '../../../domain/timings.js';
import { startedNow } from '../../errors.js';

/**
 * Starts the workflow that erases a subject, if it has not been started yet. Resolves once Temporal has persisted it:
 * from then on it is done, whatever crashes.
 *
 * @param isAgain whether it is done again although it has been done: after a restore
 */
export async function startErasure(
  client: Client,
  taskQueue: string,
  timings: Timings,
  plan: ErasurePlan,
  isAgain = false,
): Promise<void> {
  await startedNow(
    client.workflow.start<typeof eraseSubject>('eraseSubject', {
      workflowId: erasureWorkflowId(plan.account_id, plan.erasure_id),
      taskQueue,
      args: [{ plan, ...timingsOfInput(timings) }],
      // One that somebody has terminated in Temporal can be asked for again.
      workflowIdReusePolicy: isAgain ? 'ALLOW_DUPLICATE' : 'ALLOW_DUPLICATE_FAILED_ONLY',
      typedSearchAttributes: new TypedSearchAttributes([
        { key: ACCOUNT_ATTRIBUTE, value: [plan.account_id] },
      ]),
    }),
  );
}
